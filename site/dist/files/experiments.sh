#!/bin/sh
# One experiment from its hypothesis to its roll-out, with curl. It stops at the first answer that is not
# expected.
#
#   URL=http://localhost:4000 SECRET_KEY=rf_sk_… PUBLISHABLE_KEY=rf_pk_… sh docs/experiments.sh
set -eu

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# call <expected status> <method> <path> [body]: prints the body of the answer.
call() {
  expected=$1 method=$2 path=$3
  status=$(curl -sS -o "$work/body" -w '%{http_code}' -X "$method" \
    -H "Authorization: Bearer $SECRET_KEY" \
    ${4:+-H 'Content-Type: application/json' -d "$4"} "$URL$path")
  if [ "$status" != "$expected" ]; then
    echo "$method $path answered $status instead of $expected: $(cat "$work/body")" >&2
    exit 1
  fi
  cat "$work/body"
}

# config <viewer>: the settings that an app of this viewer reads.
config() {
  curl -sS --fail -H "Authorization: Bearer $PUBLISHABLE_KEY" "$URL/v1/config?$1"
}

# field <name>: the first value of a text field in the JSON that comes in.
field() { grep -o "\"$1\":\"[^\"]*\"" | head -n 1 | cut -d '"' -f 4; }

# says <text>: stops unless the JSON that comes in has this text.
says() {
  cat >"$work/said"
  grep -q -- "$1" "$work/said" || { echo "There is no $1 in $(cat "$work/said")" >&2; exit 1; }
}

echo 'How long will it take to see 5 % more watch time?'
plan=$(call 200 POST /v1/experiments/plan '{"metric":"watchTime","effect":0.05}')
ends=$(echo "$plan" | field endsAt)
# A service that has no viewers yet proposes no end; so take a date.
ends=${ends:-2099-01-01T00:00:00.000Z}

echo 'A draft: a hypothesis, two variants, an end, and a colleague who tries it'
experiment=$(call 201 POST /v1/experiments "{
  \"name\": \"Larger previews\",
  \"hypothesis\": \"Larger previews are watched longer, because people see what comes next.\",
  \"tags\": [\"player\"],
  \"type\": \"config\",
  \"traffic\": 0.1,
  \"endsAt\": \"$ends\",
  \"variants\": [
    { \"id\": \"control\", \"name\": \"As it is\", \"traffic\": 0.5 },
    { \"id\": \"large\", \"name\": \"Large\", \"traffic\": 0.5,
      \"config\": { \"player.previewSize\": \"large\" } } ],
  \"metrics\": [\"watchTime\", \"retention\"],
  \"forcedVariants\": [{ \"userId\": \"colleague\", \"variantId\": \"large\" }] }" | field id)
trial=/v1/experiments/$experiment

echo 'The colleague sees it before anybody else, and is not counted'
config userId=colleague | says '"player.previewSize":"large"'

echo 'Start it on a tenth of the viewers, and let the app ask for its settings'
call 200 POST "$trial/start" | says '"status":"running"'
config deviceId=phone-1 >"$work/config"

echo 'All is well, so take every viewer: nobody is moved'
call 200 PATCH "$trial" '{"traffic":1}' | says '"traffic":1'
for viewer in 1 2 3 4 5 6 7 8; do
  config userId=viewer-$viewer | says "\"experimentId\":\"$experiment\""
done
call 200 GET "$trial/assignments?userId=viewer-3" | says '"userId":"viewer-3"'

echo 'Something looks wrong: pause, look, and go on'
call 200 POST "$trial/pause" '{"note":"The preview flickers on one phone."}' >"$work/paused"
if config userId=viewer-3 | grep -q "$experiment"; then
  echo 'A viewer sees a paused experiment' >&2
  exit 1
fi
call 200 POST "$trial/resume" '{"note":"It was that phone."}' | says '"pausedAt":null'

echo 'Read the results; the first look is after seven days'
call 200 GET "$trial/results" | says '"kind":"planned_end"'

echo 'Decide: stop, roll out the winner to everybody, and say why'
call 200 POST "$trial/stop" '{"winner":"large","reason":"Watch time is up."}' |
  says '"status":"stopped"'
config userId=somebody-new | says '"player.previewSize":"large"'
call 200 GET "$trial/decisions" | says '"note":"Watch time is up."'

echo 'The next idea starts as a copy'
call 201 POST "$trial/clone" '{"name":"Even larger previews"}' | says '"status":"draft"'
