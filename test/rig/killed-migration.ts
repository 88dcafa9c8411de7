import { openSqliteStore } from '../../src/pipeline/store/sqlite-store.ts';

/** A process that opens a store of an older version and is killed after it has rewritten some objects. */
const [path = '', count = ''] = process.argv.slice(2);
const { stringify } = JSON;
let written = 0;
JSON.stringify = (value: unknown) => {
  written += 1;
  if (written > Number(count)) process.kill(process.pid, 'SIGKILL');
  return stringify(value);
};
await openSqliteStore(path);
