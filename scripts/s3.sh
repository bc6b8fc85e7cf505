# To be sourced: an S3 server on loopback for the scripts beside it. serve_s3 DIR BUCKET PORT starts S3Proxy on the first free
# port from PORT on, keeps its objects as plain files under DIR/s3/BUCKET, and sets $endpoint and $s3_pid; access key
# tidemark, secret key tidemark-local. root must be the checkout; the server's jar comes with the build of storage.
serve_s3() {
  local dir=$1 bucket=$2 port java=${JAVA_HOME:+$JAVA_HOME/bin/}java
  for port in $(seq "$3" $(($3 + 99))); do
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
  done
  endpoint=http://127.0.0.1:$port
  mkdir -p "$dir/s3/$bucket"
  printf '%s\n' "s3proxy.endpoint=$endpoint" s3proxy.authorization=aws-v2-or-v4 s3proxy.identity=tidemark \
    s3proxy.credential=tidemark-local jclouds.provider=filesystem-nio2 "jclouds.filesystem.basedir=$dir/s3" >"$dir/s3proxy.properties"
  "$java" -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -jar "$root"/storage/target/s3proxy/s3proxy-*.jar \
    --properties "$dir/s3proxy.properties" >"$dir/s3proxy.log" 2>&1 &
  s3_pid=$!
  for _ in $(seq 300); do
    [ "$(curl -s -o /dev/null -w '%{http_code}' "$endpoint/" || true)" = 000 ] || return 0
    sleep 0.1
  done
  echo "the S3 server doesn't serve, see $dir/s3proxy.log" >&2
  return 1
}
