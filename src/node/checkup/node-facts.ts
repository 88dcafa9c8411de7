import { containers } from '../evidence/containers/containers.ts';
import { runtime } from '../evidence/containers/runtime.ts';
import { kubelet } from '../evidence/kubelet/kubelet.ts';
import { kubeletVersion } from '../evidence/kubelet/kubelet-version.ts';
import { mountTable } from '../evidence/mounts/mount-table.ts';
import { pods } from '../evidence/pods/pods.ts';
import { attempt } from '../model/attempt.ts';
import type { Look } from '../model/evidence.ts';
import type { NodeSummary } from './report.ts';

/** The node in one line: what runs here, and how much of it. What is not known is left out. */
export async function nodeFacts(look: Look): Promise<Omit<NodeSummary, 'tookMs'>> {
  const here = await attempt(look.of(kubelet));
  const hostname = await attempt(look.node.ask('file', { path: '/proc/sys/kernel/hostname' }));
  const name = here.known ? here.value.nodeName : undefined;
  const facts = {
    name: name ?? (hostname.known ? hostname.value.trim() : 'unknown'),
    time: look.node.now().toISOString(),
  };
  if (!here.known) return { ...facts, kubelet: { presence: 'unknown' } };
  const { presence, program, process, root, disbelieved, doubts } = here.value;
  const odd = [...disbelieved, ...doubts];
  const notes = odd.length > 0 ? { notes: odd } : {};
  if (presence === 'absent') return { ...facts, kubelet: { presence, ...notes } };

  const version = await attempt(look.of(kubeletVersion));
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
    ...(await runtimeFacts(look)),
    ...(await counts(look)),
  };
}

async function runtimeFacts(look: Look): Promise<Pick<NodeSummary, 'runtime'>> {
  const engine = await attempt(look.of(runtime));
  if (!engine.known) return {};
  const { name, version, criVersion, socket } = engine.value;
  return { runtime: { name, version, criVersion, socket } };
}

async function counts(look: Look): Promise<{ pods?: number; mounts?: number }> {
  const [listed, held, table] = await Promise.all([
    attempt(look.of(pods)),
    attempt(look.of(containers)),
    attempt(look.of(mountTable)),
  ]);
  const ready = held.known ? held.value.sandboxes.filter(({ isReady }) => isReady) : undefined;
  const count = listed.known ? listed.value.pods.length : ready?.length;
  return {
    ...(count === undefined ? {} : { pods: count }),
    ...(table.known ? { mounts: table.value.mounts.length } : {}),
  };
}
