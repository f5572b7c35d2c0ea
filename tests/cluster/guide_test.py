#!/usr/bin/env python3
"""Runs the shell blocks of docs/guides/cluster.md.

usage: guide_test.py --ounce PROGRAM --example FOLDER GUIDE.md

Nothing here is a cluster: `sbatch`, `srun` and `ssh` are local substitutes that run their commands on this machine. `sbatch` starts the
tasks of an array as processes (at most MOST_TASKS), `ssh` gives each host a home folder and a folder for temporary files of its
own. /shared is a temporary folder, and workers end after IDLE. A block after <!-- not run: reason --> is skipped. A block must end
with exit code 0, and each queue must be empty of questions afterwards.
"""

import argparse
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

BLOCK = re.compile(r"(<!-- not run: [^>]*-->\n)?^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
IDLE = "3s"
MOST_TASKS = 2
TIMEOUT = 300

SUBSTITUTES = {
    "sbatch": """#!/bin/sh
# A local substitute for Slurm's sbatch: starts the tasks of an array on this machine.
tasks=1
while [ $# -gt 0 ]; do
  case $1 in
    --array=*) tasks=${1##*-} ;;
    --wrap) command=$2; shift ;;
    --exclusive) ;;
    *) echo "sbatch: $1 is not known to this substitute" >&2; exit 2 ;;
  esac
  shift
done
[ "$tasks" -le %d ] || tasks=%d
task=1
while [ $task -le $tasks ]; do
  SLURM_ARRAY_TASK_ID=$task sh -c "$command" > "$SUBSTITUTES/task.$$.$task" 2>&1 &
  echo $! >> "$SUBSTITUTES/tasks"
  task=$((task + 1))
done
echo "Submitted batch job 1"
""" % (MOST_TASKS, MOST_TASKS),
    "srun": """#!/bin/sh
# A local substitute for Slurm's srun.
exec "$@"
""",
    "ssh": """#!/bin/sh
# A local substitute for ssh: another home folder, and another folder for temporary files.
host=$1; shift
mkdir -p "$SUBSTITUTES/$host/tmp"
cd "$SUBSTITUTES/$host"
HOME=$SUBSTITUTES/$host TMPDIR=$SUBSTITUTES/$host/tmp exec "$@"
""",
}


def ended(tasks):
    """Ends the tasks that sbatch started, by their ids."""
    for line in tasks.read_text().split() if tasks.exists() else []:
        try:
            os.kill(int(line), signal.SIGTERM)
        except ProcessLookupError:
            pass


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--ounce", required=True, type=os.path.abspath)
    parser.add_argument("--example", required=True, type=lambda name: pathlib.Path(name).resolve())
    parser.add_argument("guide", type=pathlib.Path)
    arguments = parser.parse_args()
    blocks = BLOCK.findall(arguments.guide.read_text())
    if not blocks:
        sys.exit("the guide has no shell blocks")
    failed = 0
    with tempfile.TemporaryDirectory(prefix="ounce-guide-") as name:
        folder = pathlib.Path(name).resolve()
        substitutes, shared, work = folder / "bin", folder / "shared", folder / "work"
        for one in (substitutes, shared, work, folder / "home"):
            one.mkdir()
        for command, script in SUBSTITUTES.items():
            (substitutes / command).write_text(script)
            (substitutes / command).chmod(0o755)
        (substitutes / "ounce").symlink_to(arguments.ounce)
        environment = {**os.environ, "PATH": f"{substitutes}:{os.environ['PATH']}", "HOME": str(folder / "home"),
                       "SUBSTITUTES": str(substitutes), "OUNCE_ON": "none"}
        for data in ("commands.onnx", "commands_calib.npz"):
            (work / data).write_bytes((arguments.example / data).read_bytes())
        (shared / "val.npz").write_bytes((arguments.example / "commands_val.npz").read_bytes())
        subprocess.run([arguments.ounce, "contract", "set", str(arguments.example / "commands.onnx"), "--rescale", "1/32768", "-o",
                        str(shared / "model.onnx")], check=True, stdout=subprocess.DEVNULL, env=environment)
        for remark, block in blocks:
            if remark:
                continue
            # Without a time budget, because times need a machine that is not busy.
            script = block.replace("/shared", str(shared)).replace("--idle 10m", f"--idle {IDLE}")
            script = script.replace("ounce tune ", "ounce tune --budget '6 models' --confidence none ")
            done = subprocess.run(["sh", "-eu", "-c", script], cwd=work, env=environment, timeout=TIMEOUT, capture_output=True, text=True)
            print(f"{'ok' if done.returncode == 0 else 'FAILED'}: {block.strip().splitlines()[-1]}")
            if done.returncode != 0:
                failed += 1
                print(done.stdout[-2000:], done.stderr[-2000:])
        ended(substitutes / "tasks")
        for queue in (shared / "queue", work / "queue"):
            left = list((queue / "items").iterdir())
            if left:
                failed += 1
                print(f"{queue} has questions left: {left}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
