import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { SLOT_LABEL } from '../../../src/pipeline/api/cluster-names.ts';
import { inThisFolder, personsEnvironment } from '../../../tools/cluster/node.ts';
import type { SharedCluster } from '../shared-cluster.ts';

const AGAIN_MS = 500;
const POLL_MS = 5;
/** A signal to what has entered the namespaces would leave the command itself running. */
const UNTIL_INPUT_ENDS = 'exec 3<&0; (cat <&3; kill $$) >/dev/null 2>&1 & exec "$@" 3<&-';

/** A change of a slot Lease, as the API server has stored it. */
export interface SlotChange {
  /** Empty: the watch began again, and may have missed some. */
  readonly name: string;
  /** Empty: the slot is free. */
  readonly holder: string;
  /** When it was seen, as performance.now() says it. */
  readonly at: number;
}

export interface SlotWatch {
  /** In the order in which they were seen. */
  readonly changes: readonly SlotChange[];
  stop(): Promise<void>;
}

/** Watches who holds the slots, as a person would with kubectl. */
export function watchSlots(cluster: SharedCluster): SlotWatch {
  const stopping = new AbortController();
  const changes: SlotChange[] = [];
  const watching = watchUntil(cluster, stopping.signal, changes);
  return {
    changes,
    stop: async () => {
      stopping.abort();
      await watching;
    },
  };
}

async function watchUntil(
  cluster: SharedCluster,
  stop: AbortSignal,
  changes: SlotChange[],
): Promise<void> {
  const fields = '{.metadata.name} {.spec.holderIdentity}{"\\n"}';
  const leases = ['leases', '--namespace=kubediag', `--selector=${SLOT_LABEL}`];
  const kubectl = ['kubectl', 'get', ...leases, '--watch', `--output=jsonpath=${fields}`];
  while (!stop.aborted) {
    changes.push({ name: '', holder: '', at: performance.now() });
    const untilInputEnds = ['sh', '-c', UNTIL_INPUT_ENDS, 'sh', ...kubectl];
    const child = spawn('env', [...cluster.enter, ...inThisFolder(untilInputEnds)], {
      env: personsEnvironment(cluster),
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const end = () => child.stdin.end();
    stop.addEventListener('abort', end, { once: true });
    const exit = once(child, 'exit');
    for await (const line of createInterface({ input: child.stdout })) {
      const [name = '', holder = ''] = line.split(' ');
      changes.push({ name, holder, at: performance.now() });
    }
    end();
    await exit;
    stop.removeEventListener('abort', end);
    if (!stop.aborted) await sleep(AGAIN_MS);
  }
}

/** Waits until this node holds a slot, in the changes from this number on. */
export async function untilHeldBy(
  { changes }: SlotWatch,
  nodeName: string,
  from: number,
  stop: AbortSignal,
): Promise<void> {
  const isHeld = () => changes.slice(from).some(({ holder }) => holder === nodeName);
  while (!isHeld() && !stop.aborted) await sleep(POLL_MS);
}

/** Whether a node held a slot at this time. */
export function isHeldAt(changes: readonly SlotChange[], at: number): boolean {
  const holders = new Map<string, string>();
  for (const change of changes.filter((each) => each.at <= at)) {
    if (change.name === '') holders.clear();
    else holders.set(change.name, change.holder);
  }
  return [...holders.values()].some((holder) => holder !== '');
}

/** How long the first node in recovery held its slot. */
export function firstHeldMs(changes: readonly SlotChange[]): number {
  const taken = changes.find(({ holder }) => holder !== '');
  const freed = changes.find(
    ({ name, holder, at }) => taken?.name === name && holder === '' && at > taken.at,
  );
  return taken && freed ? freed.at - taken.at : 0;
}

/** Slots that passed from one node to another without having been released, and those beyond the permitted number. */
export function wrongChanges(
  changes: readonly Pick<SlotChange, 'name' | 'holder'>[],
  slots: number,
): readonly string[] {
  const holders = new Map<string, string>();
  return changes.flatMap(({ name, holder }) => {
    if (name === '') holders.clear();
    const before = holders.get(name) ?? '';
    holders.set(name, holder);
    const held = [...holders.values()].filter((each) => each !== '').length;
    const isStolen = before !== '' && holder !== '' && before !== holder;
    return [
      ...(isStolen ? [`${name} passed from ${before} to ${holder}`] : []),
      ...(held > slots ? [`${held} slots are held, of ${slots}`] : []),
    ];
  });
}

/** The slots that are not free, each with its holder. */
export async function heldSlots(cluster: SharedCluster): Promise<readonly string[]> {
  const list = '{range .items[*]}{.metadata.name} {.spec.holderIdentity}{"\\n"}{end}';
  const leases = ['leases', '--namespace=kubediag', `--selector=${SLOT_LABEL}`];
  const text = await cluster.kubectl('get', ...leases, `--output=jsonpath=${list}`);
  return text.split('\n').filter((line) => /\S \S/.test(line));
}
