# What was mistyped must not pass as something else.
need scores scores_near
v="ounce verify scores.onnx scores_near.onnx"
exits 2 $v --data ""
exits 2 $v --set nothing=1
exits 2 $v --shape T=5
exits 2 $v --first 2
exits 2 $v --data scores.npz --label-output nothing
exits 2 $v --data scores.npz --labels label --max-drop 0.5
exits 2 $v --data scores.npz --min-agreement 99
exits 2 $v --data scores.npz --abs-tol nan
exits 2 $v --data scores.npz --abs-tol -1
exits 2 $v --data scores.npz --samples 99999999999999999999
exits 2 ounce bench scores.onnx -t nan
exits 2 ounce contract check scores.onnx --rescale 5
