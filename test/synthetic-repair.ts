import { textAt } from '../src/lib/std/json.ts';
import { takeSnapshot } from '../src/node/checkup/take-snapshot.ts';
import type { Action, Outcome } from '../src/node/model/action.ts';
import type { FileStatus } from '../src/node/model/node-reader.ts';
import type { Intent } from '../src/node/repair/journal.ts';
import type { WriteResult } from '../src/node/repair/node-writer.ts';
import type { RepairContext } from '../src/node/repair/perform.ts';
import { NodeMaker } from './synthetic-node.ts';

export const KUBELET_PID = 812;
export const SOCKET = '/run/containerd/containerd.sock';
const VERSION = { runtimeName: 'containerd', runtimeVersion: '1.6.20' };
const POD = '/var/lib/kubelet/pods/6f1c2a9e';
export const TARGET = `${POD}/volume-subpaths/settings/web/1`;
export const PAYLOAD = `${POD}/volumes/kubernetes.io~configmap/settings/..2021_06_02_06_01_21.244`;

export const ACTION: Action<'unmount'> = {
  kind: 'unmount',
  id: 216,
  parent: 22,
  device: '254:1',
  root: `${PAYLOAD}/nginx.log`,
  target: TARGET,
};

export const INTENT: Intent<Action<'unmount'>> = {
  action: ACTION,
  fault: 'stale-subpath-mount',
  finding: '3f9a1c',
};

export const ROOT_LINE = '22 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw';
export const STALE_LINE = `216 22 254:1 ${PAYLOAD}/nginx.log//deleted ${TARGET} rw - ext4 /dev/vda1 rw`;
export const OTHER_LINE = `217 22 254:1 ${PAYLOAD}/a.conf ${POD}/volume-subpaths/settings/web/2 rw - ext4 /dev/vda1 rw`;

export function statusOf(type: FileStatus['type']): FileStatus {
  const numbers = { mode: 0o755, owner: 0, links: 2, sizeBytes: 0, modifiedMs: 0 };
  return { type, device: '254:1', inode: '12', ...numbers };
}

/**
 * A node with a stale subPath mount that really goes away when it is unmounted, a writer that logs what
 * they do, and a journal in memory.
 */
export class SyntheticRepair {
  readonly node = new NodeMaker();
  readonly log: string[] = [];
  lines: string[] = [ROOT_LINE, STALE_LINE, OTHER_LINE];
  /** What the unmount answers; it takes the mount away only when it says that it did. */
  result: WriteResult = { state: 'did' };
  blocked: string | undefined = undefined;
  /** What was saved beside the journal. */
  readonly stored: string[] = [];
  /** Pods that an earlier action saw to be gone, each with its finding. */
  readonly seenGone = new Set<string>();
  actionsInLastHour = 0;
  /** Called in the act, before it answers. */
  inAct: () => void = () => {};

  constructor() {
    const kubelet = `/proc/${KUBELET_PID}`;
    this.node
      .folder('/proc', ['1', String(KUBELET_PID), 'sys'])
      .file('/proc/1/comm', 'systemd\n')
      .file('/proc/sys/kernel/osrelease', '6.1.0\n')
      .file('/proc/sys/kernel/hostname', 'node-17\n')
      .file(`${kubelet}/comm`, 'kubelet\n')
      .file(
        `${kubelet}/cmdline`,
        `kubelet\0--root-dir=/var/lib/kubelet\0--container-runtime-endpoint=unix://${SOCKET}\0`,
      )
      .file(`${kubelet}/stat`, '812 (kubelet) S 1 812 812 0 -1 4 5 0 0 0 1 3 0 0 20 0 14 0 1893 0')
      .link(`${kubelet}/ns/mnt`, 'mnt:[4026531841]')
      .link(`${kubelet}/cwd`, '/')
      .link(`${kubelet}/exe`, '/usr/bin/kubelet')
      .link(`${kubelet}/root`, '/');
    this.runtimeWith();
    const names = TARGET.split('/').slice(1, -1);
    for (const depth of names.keys()) {
      const path = `${kubelet}/root/${names.slice(0, depth + 1).join('/')}`;
      this.node.set('status', { path }, { answer: statusOf('folder') });
    }
  }

  /** Gives the runtime these containers, each with its status, and no others. */
  runtimeWith(
    ...containers: readonly { readonly listed: object; readonly status: object }[]
  ): void {
    const answer = (message: object) => ({ answer: { criVersion: 'v1' as const, message } });
    const lists = { containers: containers.map(({ listed }) => listed) };
    this.node
      .set('runtime', { socket: SOCKET, call: 'Version' }, answer(VERSION))
      .set('runtime', { socket: SOCKET, call: 'ListPodSandbox' }, answer({ items: [] }))
      .set('runtime', { socket: SOCKET, call: 'ListContainers' }, answer(lists));
    for (const { listed, status } of containers) {
      const id = textAt(listed, 'id') ?? '';
      const asked = { socket: SOCKET, call: 'ContainerStatus', id } as const;
      this.node.set('runtime', asked, answer({ status }));
    }
  }

  get repair(): RepairContext {
    return {
      snapshot: () => {
        this.node.file(`/proc/${KUBELET_PID}/mountinfo`, `${this.lines.join('\n')}\n`);
        return takeSnapshot(this.node.build(), { kubeletPid: KUBELET_PID });
      },
      writer: {
        cannotUnmount: async () => this.blocked,
        release: () => {},
        unmount: async ({ target }, { pid }) => {
          this.log.push(`unmount ${target} in ${pid}`);
          this.inAct();
          if (this.result.state === 'did') this.#takeAway(target);
          return this.result;
        },
        forceUnmount: async ({ target }, { pid }) => {
          this.log.push(`force-unmount ${target} in ${pid}`);
          return this.result;
        },
        abortFuse: async (connection) => {
          this.log.push(`abort ${connection}`);
          return { state: 'did' };
        },
        linkFile: async (from, to) => {
          this.log.push(`link ${from} as ${to}`);
          this.inAct();
          return this.result;
        },
        unlinkFile: async (path) => {
          this.log.push(`unlink ${path}`);
          return this.result;
        },
        removeEmptyFolder: async (path) => {
          this.log.push(`rmdir ${path}`);
          return { state: 'did' };
        },
        cannotRemoveFolders: () => this.blocked,
        removeFolders: async ({ folder, leftovers }) => {
          this.log.push(`rmdir ${leftovers.length} in ${folder}`);
          return { removed: new Map(leftovers.map(({ name }) => [name, null])) };
        },
        cannotCommand: () => this.blocked,
        removeContainer: async (_, id) => {
          this.log.push(`remove container ${id}`);
          return this.result;
        },
        removeSandbox: async (_, id) => {
          this.log.push(`remove sandbox ${id}`);
          return this.result;
        },
        makeLink: async (path, target) => {
          this.log.push(`link ${path} -> ${target}`);
          return this.result;
        },
      },
      journal: {
        intend: async () => this.log.push('intend'),
        conclude: async (_entry: number, _intent: Intent, outcome: Outcome) => {
          this.log.push(outcome.state);
        },
        hasSeenGone: (podUid, finding) => this.seenGone.has(`${podUid} ${finding}`),
        actionsInLastHour: async () => this.actionsInLastHour,
        keep: async (name: string, text: string) => {
          this.log.push(`keep ${name}`);
          this.stored.push(text);
          return `/var/lib/kubediag/saved/${name}`;
        },
      },
      lock: { isActing: false, release: () => {} },
      permitted: new Set(['unmount'] as const),
    };
  }

  #takeAway(target: string): void {
    const at = this.lines.findLastIndex((line) => line.split(' ')[4] === target);
    if (at >= 0) this.lines.splice(at, 1);
  }
}
