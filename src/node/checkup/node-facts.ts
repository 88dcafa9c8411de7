import { defined } from '../../lib/std/defined.ts';
import { containers } from '../evidence/containers/containers.ts';
import { runtime } from '../evidence/containers/runtime.ts';
import { kubelet } from '../evidence/kubelet/kubelet.ts';
import { kubeletVersion } from '../evidence/kubelet/kubelet-version.ts';
import { mountTable } from '../evidence/mounts/mount-table.ts';
import { pods } from '../evidence/pods/pods.ts';
import { attempt, type Snapshot } from '../model/evidence.ts';
import type { NodeSummary } from './report.ts';

/** The node in one line: what runs here, and how much of it. What is not known is left out. */
export async function nodeFacts(snapshot: Snapshot): Promise<Omit<NodeSummary, 'tookMs'>> {
  const here = await attempt(snapshot.of(kubelet));
  const hostname = await attempt(snapshot.node.ask('file', { path: '/proc/sys/kernel/hostname' }));
  const name = here.known ? here.value.nodeName : undefined;
  const facts = {
    name: name ?? (hostname.known ? hostname.value.trim() : 'unknown'),
    time: snapshot.node.now().toISOString(),
  };
  if (!here.known) return { ...facts, kubelet: { presence: 'unknown' } };
  const { presence, program, process, root, rejected, unknowns } = here.value;
  const odd = [...rejected.map(({ why }) => why), ...unknowns];
  const notes = odd.length > 0 ? { notes: odd } : {};
  if (presence === 'absent') return { ...facts, kubelet: { presence, ...notes } };

  const version = await attempt(snapshot.of(kubeletVersion));
  return {
    ...facts,
    kubelet: {
      presence,
      program,
      ...(version.known ? { version: version.value.text } : {}),
      ...(process ? { pid: process.pid } : {}),
      root,
      ...notes,
    },
    ...(await runtimeFacts(snapshot)),
    ...(await counts(snapshot)),
  };
}

async function runtimeFacts(snapshot: Snapshot): Promise<Pick<NodeSummary, 'runtime'>> {
  const engine = await attempt(snapshot.of(runtime));
  if (!engine.known) return {};
  const { name, version, criVersion, socket } = engine.value;
  return { runtime: { name, version, criVersion, socket } };
}

async function counts(snapshot: Snapshot): Promise<{ pods?: number; mounts?: number }> {
  const [listed, held, table] = await Promise.all([
    attempt(snapshot.of(pods)),
    attempt(snapshot.of(containers)),
    attempt(snapshot.of(mountTable)),
  ]);
  const ready = held.known ? held.value.sandboxes.filter(({ isReady }) => isReady) : undefined;
  const count = listed.known ? listed.value.pods.length : ready?.length;
  return defined({ pods: count, ...(table.known ? { mounts: table.value.mounts.length } : {}) });
}
