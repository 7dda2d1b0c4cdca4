# Tells what is going on, and takes a moment, so that there is something to watch: PACE seconds, or one.
say() {
  echo "$1"
  sleep "${PACE:-1}"
}
