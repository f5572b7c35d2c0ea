# Class names come from lines, a JSON list, or id2label. They reach the page of verify and of report.
need scores scores_near
v="ounce verify scores.onnx scores_near.onnx --data scores.npz --labels label --no-edge-cases --json"
printf 'cat\r\ndog\n' > lines.txt
echo '["cat", "dog"]' > list.json
echo '{"model_type": "x", "id2label": {"1": "dog", "0": "cat"}}' > config.json
for names in lines.txt list.json config.json; do $v --class-names $names 2> human | json_get results.0.class_names; done
$v 2> human > run.json
json_get results.0.class_names < run.json
ounce report run.json --class-names list.json -o named.html > human
grep -o '"class_names":\["cat","dog"\]' named.html
echo '[1, 2]' > numbers.json
exits 2 ounce report run.json --class-names numbers.json -o page.html
echo '{"a": "cat"}' > letters.json
exits 2 ounce report run.json --class-names letters.json -o page.html
: > empty.txt
exits 2 ounce report run.json --class-names empty.txt -o page.html
exits 4 ounce report run.json --class-names nowhere.txt -o page.html
ls page.html 2> human || echo 'no page'
