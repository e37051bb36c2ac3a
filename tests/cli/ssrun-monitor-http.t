# SPDX-License-Identifier: GPL-2.0-or-later
# ssrun monitor -listen: metrics and profiles over HTTP; bad requests.
# In real time: running programs are sampled.
. "$TOP/tests/lib.sh"
if ! ssrun -version | grep -q 'monitor over HTTP'; then
	run ssrun monitor -listen 0 -for 1 -store store
	like "built without HTTP: it says so" "$status$err" '^125ssrun: -listen: this program was built without libmicrohttpd'
	skip "HTTP" "it was built without libmicrohttpd: make deps"
	done_testing
fi
run ssrun monitor -for 0.2 -store first
if [ "$status" != 0 ]; then
	skip "all of it" "this machine cannot be sampled: $err"
	done_testing
fi
# It works for longer than a tick, and sleeps between: other tests have the rest.
cat > spinner.c <<'END'
#include <unistd.h>
volatile unsigned long turns;
__attribute__((noinline)) void spin_here(void) { for (int i = 0; i < 20000000; i++) turns += (unsigned long)i; }
int main(void) { for (;; usleep(20000)) spin_here(); }
END
gcc -O1 -o spinner spinner.c || exit 1
./spinner &
started=$!
# shellcheck disable=SC2086
trap 'kill -9 $started 2>/dev/null; rm -rf "$work"' EXIT
ssrun monitor -listen 0 -store store -every 3600 2> log &
monitor=$!
started="$started $monitor"
address() { sed -n 's,.*http://\(.*\)/metrics.*,\1,p' log | grep .; }
ok "it listens" wait_for address
at=$(address)
like "on this machine only" "$at" '^127\.0\.0\.1:[0-9]+$'
port=${at#*:}
get() { curl -s -m 100 --path-as-is -o body -w '%{http_code}' "$@"; }
sampled() { get "$at/metrics" && grep -Eq '^perfex_monitor_samples_total [1-9]' body; }
ok "metrics" wait_for sampled
like "with their type" "$(curl -s -D - -o /dev/null "$at/metrics")" '^Content-Type: application/openmetrics-text; version=1\.0\.0'
is "which end as they should" "$(tail -1 body)" "# EOF"
if /usr/bin/python3 -c 'import prometheus_client.openmetrics.parser' 2>/dev/null; then
	is "the parser has them" "$(/usr/bin/python3 "$top/tests/openmetrics.py" perfex_monitor_pid < body)" "perfex_monitor_pid $monitor"
else
	skip "the parser has them" "python3-prometheus-client is not installed: make deps-metrics"
fi

# ---- profiles ----
spins() {
	[ "$(get "$at/debug/pprof/profile?seconds=1")" = 200 ] && gzip -dc body | protoc --decode=reader.Profile -I "$top/tests/readers" profile.proto > text &&
		grep -q '"spin_here"' text
}
ok "a profile names the function" wait_for spins
like "with its samples" "$(cat text)" '"CPU time \(time\): [0-9]+ samples'
cp body profile
# of two requests at once, one is refused
both() {
	curl -s -m 100 -o /dev/null -w '%{http_code}\n' "$at/debug/pprof/profile?seconds=2" > code &
	first=$!
	second=$(get "$at/debug/pprof/profile?seconds=2")
	meanwhile=$(get "$at/metrics")
	wait "$first"
	[ "$(printf '%s\n' "$(cat code)" "$second" | sort | tr '\n' ' ')" = "200 503 " ]
}
ok "one at a time" wait_for both
is "metrics are there all the time" "$meanwhile" 200
if command -v go >/dev/null && go tool pprof -h >/dev/null 2>&1; then
	like "go tool pprof reads it" "$(go tool pprof -top profile 2>&1)" 'spin_here'
else
	skip "go tool pprof reads it" "go is not installed: make deps-metrics"
fi

# ---- Prometheus itself ----
if command -v prometheus >/dev/null; then
	web=$(/usr/bin/python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
	printf 'global: {scrape_interval: 1s}\nscrape_configs:\n- job_name: monitor\n  static_configs:\n  - targets: ["%s"]\n' "$at" > prometheus.yml
	prometheus --config.file=prometheus.yml --storage.tsdb.path="$work/tsdb" --web.listen-address="127.0.0.1:$web" 2> prometheus.log &
	started="$started $!"
	scraped() { curl -s "127.0.0.1:$web/api/v1/query?query=perfex_monitor_pid" | grep -q "\"$monitor\""; }
	ok "prometheus scrapes it" wait_for scraped
else
	skip "prometheus scrapes it" "prometheus is not installed: make deps-metrics"
fi

# ---- bad requests ----
for path in / /metrics/ /metricsx /../metrics /debug/pprof/ /debug/pprof/heap; do is "$path is not there" "$(get "$at$path")" 404; done
for seconds in 0 -1 301 1e1 x '' 99999999999999999999; do is "seconds=$seconds" "$(get "$at/debug/pprof/profile?seconds=$seconds")" 400; done
for method in POST PUT DELETE OPTIONS; do is "$method" "$(get -X $method "$at/metrics")" 405; done
is "an upload" "$(get -F "file=@$build/bin/ssrun" "$at/metrics")" 405
ok "garbage" python3 "$top/tests/http_garbage.py" "$port" 300
answers() { [ "$(get "$at/metrics")" = 200 ]; }
ok "it still answers" wait_for answers
# clients that neither write nor read, more than there may be
python3 - "$port" > held <<'END' &
import socket, sys, time
held = []
for i in range(40):
    try:
        held.append(socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5))
        if i % 2:
            held[-1].sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n" * 100)
    except OSError:
        pass
print("held", flush=True)
time.sleep(600)
END
started="$started $!"
wait_for grep -q held held
ok "clients that never read are dropped" wait_for answers
ok "the monitor runs" kill -0 "$monitor"
run ssrun monitor -listen "$port" -store other -for 1
like "a port in use" "$status$err" "^125ssrun: cannot listen on $port"
for address in 65536 99999999 80x x 1.2.3.4 :80 127.0.0.1: 70000x localhost:80 ::1:80 '[::1]80' 1:2:3; do
	run ssrun monitor -listen "$address" -store other -for 1
	like "-listen $address" "$status$err" '^125ssrun: (-listen: |cannot listen)'
done

# who asks for five minutes and goes does not keep others from their profiles
python3 - "$port" <<'END'
import socket, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=5)
s.sendall(b"GET /debug/pprof/profile?seconds=300 HTTP/1.1\r\nHost: x\r\n\r\n")
time.sleep(2)
END
again() { [ "$(get "$at/debug/pprof/profile?seconds=1")" = 200 ]; }
ok "a client that goes away ends its recording" wait_for again

# ---- the end ----
busy() { [ "$(get "$at/debug/pprof/profile?seconds=1")" = 503 ]; }
while kill -0 "$monitor" 2>/dev/null; do curl -s -m 400 -o /dev/null "$at/debug/pprof/profile?seconds=300"; done &
started="$started $!"
ok "while a profile is being recorded" wait_for busy
kill -TERM "$monitor"
wait "$monitor"
is "it ends at once" "$?" 0
done_testing
