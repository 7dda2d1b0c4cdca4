#!/usr/bin/env bash
# A tour of what `aot` does so far: agree on an objective, work through a graph with an alternative that fails,
# let a machine decide that it is done. Needs no API key; everything happens in a temporary folder.
set -euo pipefail

folder=$(mktemp -d "${TMPDIR:-/tmp}/aot-tour.XXXXXX")
trap 'rm -rf "$folder"' EXIT
export HOME="$folder/home" XDG_DATA_HOME="$folder/home/data"
mkdir -p "$folder/home" "$folder/greeter"
cd "$folder/greeter"
unset AOT_STATE_FILE

bold='' dim='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$'\033[1m' dim=$'\033[2m' plain=$'\033[0m'; fi
say() { printf '\n%s# %s%s\n' "$bold" "$*" "$plain"; }
show() {
  local word line='$'
  for word in "$@"; do case $word in *[\ \|]*) line+=" \"$word\"" ;; *) line+=" $word" ;; esac; done
  printf '%s%s%s\n' "$dim" "$line" "$plain"
}
run() { show "$@"; "$@"; }
may_fail() { show "$@"; "$@" || true; }

say "Agree on what is wanted, and on commands that tell when it is there."
run aot init --goal "A greeter that greets" --command "sh greet.sh | grep -q hello" --command "test -s README"
sed -i.bak -e 's/background_intent: ""/background_intent: "Nobody is greeted yet"/' \
  -e 's/deliverables: ""/deliverables: "greet.sh and a README"/' \
  -e 's/definition_of_done: ""/definition_of_done: "It says hello, and a README tells how"/' \
  -e 's/description: "A greeter that greets"/description: "Decide on the words"/' .claude/aot-loop-state.md
rm .claude/*.bak

say "The work: two ways to write the script, then a README made of two parts."
run aot atom add "Script with banner" --id A2 --depends-on A1 --or-group script
run aot atom add "Script with echo" --id A3 --depends-on A1 --or-group script
run aot atom add "README" --id A4 --depends-on A2
run aot atom decompose A4 --child "Title" --child "Usage" --reason "Can be written apart"

say "May it start? Before any work, the base case has to fail."
run aot gate

say "The first way fails twice; the loop goes on with the other one."
run aot atom start A1
run aot atom resolve A1 --summary "hello, world"
for attempt in 1 2; do
  run aot atom start A2
  run aot atom fail A2 --reason "there is no banner command (attempt $attempt)"
done
run aot atom start A3
echo 'echo hello, world' > greet.sh
run aot atom resolve A3 --summary "greet.sh echoes the words" --artifact greet.sh

say "Saying that it is done does not make it done."
may_fail aot verify

say "When the last part is there, the whole is there too."
run aot atom start A5
echo '# Greeter' > README
run aot atom resolve A5 --summary "title" --artifact README
run aot atom start A6
echo 'Run: sh greet.sh' >> README
run aot atom resolve A6 --summary "usage" --artifact README

say "Now the base case holds. A machine says so."
run aot verify
run aot status
run aot log
