# SPDX-License-Identifier: GPL-2.0-or-later
# prof -html: a page that needs nothing but itself, as headless Chromium shows it.
. "$TOP/tests/lib.sh"

cat > app.c <<'END'
int total;

__attribute__((noinline)) static int search(int a)
{
	return total += a;
}

int main(int argc, char **argv)
{
	return search(argc) + (argv == 0);
}
END
${CC:-gcc} -g -O0 -o app app.c || exit 1
address() { echo "0x$(nm app | awk -v n="$1" '$3 == n { print $1 }' | sed 's/^0*//')"; }
main=$(address main) search=$(address search)

# Names that a page could obey, and every byte but space.
python3 - "$work" "$main" "$search" > profile.txt <<'END'
import os, sys
work, main, search = sys.argv[1:]
names = [b"</script><script>document.title='owned'</script>", b"<img/src=x/onerror=document.title='owned'>",
         b"<!--<script>", b"@DATA@&lt;b&gt;\\u003cb\\u003e", bytes(b for b in range(1, 256) if b not in b"\t\n\v\f\r "),
         "left\u202eright".encode()]
out = [b"type usertime", b"fact command ./app <script>document.title='owned'</script>", b"image elf " + f"{work}/app".encode(),
       b"image kernel <b>kernel</b>", b"metric time 30000000 measured clock,stacks", b"metric dsc 131 model -", b"process 100 -1 app",
       b"thread 1 100 app", b"elapsed 2000000000"]
out += [b"symbol 2 %x 16 " % (0x1000 + 16 * i) + name for i, name in enumerate(names)]
out += [b"time 0 1000000000"]
out += [f"sample 0 1 0 100 1:{main} 1:{search}".encode(), f"sample 0 1 0 20 1:{main}".encode(), f"sample 1 1 0 7 1:{search}".encode()]
out += [f"sample 0 1 0 5 1:{main} 2:0x{0x1000 + 16 * i:x}".encode() for i in range(len(names))]
os.write(1, b"\n".join(out) + b"\n")
END
ok "the profile is made" sh -c "'$build/tests/tools/experiment' odd < profile.txt"
sed "s/^sample 0 1 0 100 /sample 0 1 0 300 /" profile.txt > slower.txt
ok "and a slower one" sh -c "'$build/tests/tools/experiment' slower < slower.txt"

run prof -html page.html odd
is "the page is written" "$status $out" "0 "
ok "-html - writes it to standard output" sh -c "prof -html - odd | sed 's/-html - odd/-html page.html odd/' | cmp page.html - && test ! -e ./-"
is "no name can end the script or begin one: tags are those of the page without data" "$(grep -o '<[a-z!/]*' page.html | sort | uniq -c)" \
	"$(grep -o '<[a-z!/]*' "$build/share/perfex/page.html" | sort | uniq -c)"
is "the page without data names no address of a network" "$(grep -oE 'https?:|url\(|@import|(src|href)=' "$build/share/perfex/page.html")" ""
like "its policy allows none" "$(grep Content-Security page.html)" "default-src 'none'"
python3 -c 'import re; print(re.search("id=\"data\">(.*?)</script>", open("page.html", encoding="utf-8").read(), re.S).group(1))' > data.json
is "functions are those of the report" "$(jq -c '.functions.rows | map([.procedure, .counts[0].value])' data.json)" \
	"$(prof -inclusive -json odd | jq -c '.rows | map([.procedure, .counts[0].value])')"
is "so are intervals of instructions" "$(jq -c '[.instructions.rows[].counts]' data.json)" "$(prof -q 90cum% -dis -json odd | jq -c '[.rows[].counts]')"
is "paths have the samples with callees and their own" "$(jq -c '.paths as $p | [$p.nodes | _nwise(6) | select($p.names[.[1]] == "main")]' data.json)" '[[-1,1,150,20,0,0]]'

is "of one thread, there is no part by thread" "$(jq -c 'has("threads") or has("processes") or has("waits")' data.json)" false
sed 's/^thread .*/&\nprocess 200 100 other\nthread 2 200 other/; s/^sample 0 1 0 20 .*/sample 0 2 0 30 1:'"$search"'/' profile.txt > two.txt
ok "a profile of two processes" sh -c "'$build/tests/tools/experiment' two < two.txt"
page_data() { python3 -c 'import re, sys; print(re.search("id=\"data\">(.*?)</script>", open(sys.argv[1], encoding="utf-8").read(), re.S).group(1))' "$1"; }
ok "its page" prof -html two.html two
page_data two.html > two.json
is "two processes have a part, as -by process reports them" "$(jq -c '.processes.rows | map([.thread, .procedure, .counts[0].value])' two.json)" \
	"$(prof -by process -json two | jq -c '.rows | map([.thread, .procedure, .counts[0].value])')"
ok "a page by command with two reports more" prof -html more.html -by command -heavy -dso two
page_data more.html > more.json
is "commands take their place" "$(jq -c '[has("processes"), (.commands.rows | map(.thread) | unique)]' more.json)" '[false,["command app","command other"]]'
is "the reports asked for are parts" "$(jq -c '.heavy.rows, .dso.rows | map(del(.shown))' more.json)" "$(prof -heavy -json two | jq -c .rows)
$(prof -dso -json two | jq -c .rows)"

run prof -html none/page.html odd
like "a page that cannot be written is an error" "$status $err" "^[1-9].*none"
run prof -html page2.html -json odd
like "other outputs are refused" "$status $err" "^[1-9].*-html writes a page of its own"

if ! command -v chromium > /dev/null; then
	skip "the page in a browser" "chromium is not installed"
	done_testing
fi
# browse PAGE SCRIPT [PART]: what Chromium makes of a page after a script of ours, whose answer is the title.
browse() {
	python3 - "$1" "$2" <<'END'
import sys
page = open(sys.argv[1], encoding="utf-8").read()
open("asked.html", "w", encoding="utf-8").write(page.replace("</body>", '<script nonce="page">' + sys.argv[2] + "</script></body>"))
END
	rm -f chrome/Singleton* # of one that was killed; all else saves time
	timeout -s KILL 120 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
		--disable-background-networking --disable-component-update --disable-sync --user-data-dir="$work/chrome" \
		--dump-dom "file://$work/asked.html${3:+#$3}" > dom.html 2> chrome.err
	sed -n 's,.*<title>\(.*\)</title>.*,\1,p' dom.html | head -1
}
is "no name acts: the title is ours" "$(browse page.html '')" "prof: odd"
dom=$(cat dom.html)
like "a name is shown as it is" "$dom" "&lt;img/src=x/onerror="
like "a character that turns the line is shown by its number" "$dom" 'left\\u202eright'
like "counts have their label and interval" "$dom" '95%: [0-9.]+ to [0-9.]+, measured'
like "and their margin" "$dom" '±[0-9.]+%'

is "functions begin with what is costly itself; a click on the heading turns the order" "$(browse page.html '
	const names = () => [...document.querySelectorAll("tbody tr:not(.total) td.text")].map(e => e.firstChild.data);
	const first = names()[0];
	document.querySelector("th button").click();
	document.title = first + " " + names().pop();')" "search search"
is "the search selects" "$(browse page.html 'document.title = document.querySelectorAll("tbody tr:not(.total)").length;' 'functions?sear')" 1
is "the share of what was searched is above the graph" "$(browse page.html '
	const hits = [...document.querySelectorAll(".notes")].find(e => e.textContent.startsWith("found:"));
	document.title = hits.textContent + " " + (hits.getBoundingClientRect().top < document.getElementById("flame").getBoundingClientRect().top);' \
	'paths?search')" 'found: 1 shown, 66.7% of the whole true'
is "a click on a frame zooms, on the root back" "$(browse page.html '
	const frame = n => [...document.querySelectorAll("#flame div")].find(e => e.title.startsWith(n + ":"));
	const width = n => parseFloat(frame(n).style.width), root = width("the whole run"), before = width("search") < root;
	frame("search").click();
	const zoomed = width("search") === root;
	frame("the whole run").click();
	document.title = [before, zoomed, width("search") < root].join();' paths)" "true,true,true"
like "a frame has its share and interval" "$(cat dom.html)" 'search: 3 s \(66[.]7%, 95%: 2[.]44[0-9]* to 3[.]64[0-9]* s, measured\)'
is "the timeline is that of the report" "$(jq -c '.timeline.rows | map(.procedure)' data.json)" "$(prof -timeline -json odd | jq -c '.rows | map(.procedure)')"
is "rows over time are drawn: all in the first half" "$(browse page.html '
	const bars = [...document.querySelector(".line").children].map(b => parseFloat(b.style.height)), half = bars.length / 2;
	document.title = bars.length > 30 && Math.min(...bars.slice(0, half - 2)) > 0 && Math.max(...bars.slice(half + 2)) === 0;' timeline)" true
like "a bar has its time and interval" "$(cat dom.html)" 'title="0 to 0[.]0[0-9]* s: [0-9.]+ seconds, 95%: [0-9.]+ to [0-9.]+ *'
ok "a run whose threads wait" ssrun -q -totaltime -o waiting "$build/tests/programs/waits" futex 50
ok "its page" prof -html waiting.html waiting
is "the part on waits says who waited longest, above its rows" "$(browse waiting.html '
	const line = [...document.querySelectorAll(".notes")].find(e => e.textContent.startsWith("Waited: "));
	document.title = line.nextSibling.tagName + line.textContent.replace(/[0-9.]+/g, "N");' waits |
	sed 's/[(]N% [a-z]*[)]/(N% REASON)/g; s/; .*//')" "TABLEWaited: N waits N s (N% REASON)"
is "the source has counts beside its lines" "$(browse page.html '
	document.title = [...document.querySelectorAll("tr.hot")].map(r => [...r.children].slice(-2).map(c => c.textContent).join(" ")).join(", ");' source |
	cut -d, -f1-2)" "4 {, 9 {"
is "instructions have source lines around them" "$(browse page.html '
	document.title = document.querySelectorAll("tr.source").length > 2 && document.querySelectorAll("tr.hot td.code").length > 1;' instructions)" true

is "processes are closed, and open by a click" "$(browse two.html '
	const rows = () => document.querySelectorAll("tbody tr:not(.total)").length, before = rows();
	document.querySelector("tr.group").click();
	document.title = before + " " + (rows() > before) + " " + document.querySelector("tr.group td.text").firstChild.data;' processes)" "2 true ▾ process 100 app"
is "a report asked for has a tab of its own" "$(browse more.html '
	document.title = document.querySelector("nav button[aria-selected=true]").textContent + " " + document.querySelector("tbody tr td.text").firstChild.data;' dso)" "-dso app"

long="ns::search<$(printf 'std::pair<int,std::pair<long,char>>,%.0s' 1 2 3 4 5 6)int>(int)"
sed "s|^symbol 2 1000 .*|symbol 2 1000 16 $long|" profile.txt > long.txt
ok "a long name" sh -c "'$build/tests/tools/experiment' long < long.txt && prof -html long.html long && prof -names full -html full.html long"
is "is short, and whole where the pointer is" "$(browse long.html '
	const cell = [...document.querySelectorAll("td.text")].find(e => e.title.startsWith("ns::"));
	document.title = cell.firstChild.data + " " + cell.title.length;')" "ns::search&lt;...&gt;(...) ${#long}"
is "in the graph as well" "$(browse long.html '
	const frame = [...document.querySelectorAll("#flame div")].find(e => e.title.startsWith("ns::"));
	frame.click();
	document.title = [...document.querySelectorAll("#flame div")].find(e => e.title.startsWith("ns::")).textContent;' paths)" "ns::search&lt;...&gt;(...)"
is "a frame that is too narrow has what tells its name from others: the end" "$(browse page.html '
	const fit = (name, room) => fitted(name, room, text => text.length);
	document.title = [fit("ns::A<...>::find(int) const", 40), fit("ns::A<...>::find(int) const", 20), fit("ns::A<...>::find(int) const", 6),
		fit("ns::find", 2), fit("B::operator()(int)", 12), fit("runtime.mapassign_faststr", 20), fit("a.org/x/sync.(*Mutex).Lock", 15),
		fit("unlink_chunk.constprop.0", 9), fit("main.main.func1", 12), fit("C.calls (work.py:10)", 8), fit(".text+0x10", 3)].join("|");')" \
	"ns::A&lt;...&gt;::find(int) const|ns::A&lt;...&gt;::find|find|find|operator()|mapassign_faststr|(*Mutex).Lock|unlink_chunk.constprop.0|main.func1|C.calls|.text+0x10"
is "-names full: whole" "$(browse full.html '
	document.title = [...document.querySelectorAll("td.text .long")].filter(e => e.textContent.length === '${#long}').length;')" 1
is "the head is what matters; the rest opens" "$(browse page.html '
	const facts = [...document.querySelectorAll("#facts > div")].map(e => e.textContent.replace(/:.*/, ""));
	document.title = facts.join() + " " + document.querySelector("#facts details").open;')" "Command,CPU time,dsc false"

run prof -html none.html -only nosuch odd
like "nothing matches: said, status 1, as in text" "$status $err" "^1 prof: -only: no function or image matches 'nosuch'"
run prof -html none.html -by process -only process:nosuch odd
is "no such process" "$status" 125
run prof -html part.html -only search odd
is "what leaves parts of it empty is no fault" "$status $err" "0 "

ok "two runs" prof -html diff.html -diff odd slower
is "what changed is a part" "$(browse diff.html '
	document.title = [...document.querySelectorAll("nav button")].map(b => b.textContent).join() + " " +
		document.querySelector("tbody td.text").firstChild.data;' changes)" "Functions,Changes,Call paths,Timeline,Source,Instructions search"
ok "two runs alike" prof -html alike.html -diff odd odd
is "where nothing changed, the figures of the whole are there; what both runs have is said once" "$(browse alike.html '
	const facts = [...document.querySelectorAll("#facts > div")].map(e => e.textContent).filter(t => t.startsWith("Command: "));
	document.title = (document.querySelectorAll("tr.total td").length > 2) + " " + facts.length;' changes)" "true 1"
done_testing
