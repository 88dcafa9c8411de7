import { writeSync } from 'node:fs';
import { API_VERSION } from '../../src/pipeline/api/kinds.ts';
import { openSqliteStore } from '../../src/pipeline/store/sqlite-store.ts';

/** A process to be killed: counts in ten objects of a store, and prints what it was promised. */
const [path = '', prefix = ''] = process.argv.slice(2);
const store = await openSqliteStore(path);
await Promise.all(Array.from({ length: 10 }, (_, at) => count(`${prefix}-${at}`)));

async function count(name: string): Promise<void> {
  let object = await store.create({
    apiVersion: API_VERSION,
    kind: 'Diagnosis',
    metadata: { name, namespace: 'default' },
    spec: { operationSet: 'some', nodeName: 'node-1' },
  });
  for (let value = 1; ; value += 1) {
    object = await store.updateStatus({ ...object, status: { count: value } });
    writeSync(1, `${name} ${value}\n`);
  }
}
