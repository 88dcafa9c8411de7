import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { tried } from '../../lib/state/state-folder.ts';
import { fileOf } from '../../pipeline/diagnosis/large-results.ts';
import type { WithHost } from '../../pipeline/operations/processor-host.ts';
import type { StepFile } from '../../pipeline/steps/operation-result.ts';
import type { LimitedResults } from './limited-results.ts';

/** Stores the files of a step among the results of its Diagnosis, which may list them. */
export function filesOfDiagnoses(withHost: WithHost, results: LimitedResults): WithHost {
  return (request, use) => {
    const { uid, onFile, isForPod } = request;
    if (uid === undefined || !onFile) return withHost(request, use);
    return withHost(request, (host) =>
      use({
        ...host,
        storeFile: async ({ kind, name, bytes }) => {
          const entry = entryOf(`${kind}/${name}`, bytes);
          const stored = await results.store(uid, entry.file, bytes);
          if (!stored.ok) return stored;
          onFile(entry);
          return { ok: true, value: results.pathOf(uid, entry.file) };
        },
        saveEvidence: async (checked, finding) => {
          const saved = await host.saveEvidence(checked, finding);
          if ('failure' in saved || isForPod) return saved;
          // A repair does not fail because its bundle cannot be listed: the node has it.
          const bytes = await tried(readFile(saved.path));
          if (!bytes.ok) return saved;
          const entry = entryOf(`bundles/${basename(saved.path)}`, bytes.value);
          const from = { path: saved.path, bytes: bytes.value };
          const stored = await results.storeLink(uid, entry.file, from);
          if (stored.ok) onFile(entry);
          return saved;
        },
      }),
    );
  };
}

function entryOf(name: string, content: Uint8Array): StepFile {
  const sha256 = createHash('sha256').update(content).digest('hex');
  return { name, file: fileOf(name, content), bytes: content.length, sha256 };
}
