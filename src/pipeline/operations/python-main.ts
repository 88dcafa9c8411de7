/**
 * What stands around a function: it hands the context to the handler, and its dict back to us on a
 * channel of its own. Whatever the function prints goes with its errors, in its order, and is no answer.
 */
export const PYTHON_MAIN = `
import json, os, sys

answer = os.fdopen(os.dup(1), "w", encoding="utf-8", errors="replace")
os.dup2(2, 1)
context = json.loads(sys.stdin.buffer.read())
sys.path.insert(0, sys.argv[1])

from function import handler

result = handler(context)
if result is not None:
    json.dump(result, answer, ensure_ascii=False)
answer.flush()
`;
