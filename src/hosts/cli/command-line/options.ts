import { defined } from '../../../lib/std/defined.ts';
import type { OptionsOf } from '../../../lib/terminal/command-spec.ts';
import { UsageError } from '../../../lib/terminal/terminal.ts';
import { minimumAge } from '../../../node/evidence/volumes/minimum-age.ts';
import type { SnapshotOptions } from '../../../node/model/evidence.ts';
import { type NODE_OPTIONS, STATE_FOLDER } from './shared-options.ts';

/** How to reach the node: the same options in every command that reads one. */
export type NodeOptions = OptionsOf<typeof NODE_OPTIONS>;

export function snapshotOptionsOf(options: NodeOptions): SnapshotOptions {
  const { kubeletPid, kubeletRoot, runtimeEndpoint, kubeletLog, minAge } = options;
  return defined({
    ...(kubeletPid === undefined ? {} : { kubeletPid: integer('--kubelet-pid', kubeletPid) }),
    ...(kubeletRoot === undefined ? {} : { kubeletRoot: absolute('--kubelet-root', kubeletRoot) }),
    runtimeEndpoint,
    ...(kubeletLog === undefined ? {} : { kubeletLog: absolute('--kubelet-log', kubeletLog) }),
    ...(minAge === undefined ? {} : { [minimumAge.name]: durationMs('--min-age', minAge) }),
  });
}

// 30, 30s, 500ms, 2m, 6h
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

export function durationMs(option: string, text: string, most = '60m'): number {
  const ms = msOf(text);
  if (!(ms > 0 && ms <= msOf(most))) {
    throw new UsageError(`${option}: not a duration up to ${most}, such as 30s or 2m: "${text}"`);
  }
  return ms;
}

function msOf(text: string): number {
  const [, amount, unit = 's'] = DURATION.exec(text) ?? [];
  return Number(amount) * (UNIT_MS[unit] ?? Number.NaN);
}

export function integer(option: string, text: string, most = 9_999_999_999): number {
  if (!/^[1-9]\d{0,9}$/.test(text) || Number(text) > most) {
    const range = most === 9_999_999_999 ? '' : ` from 1 to ${most}`;
    throw new UsageError(`${option}: not a number${range}: "${text}"`);
  }
  return Number(text);
}

export function absolute(option: string, path: string): string {
  if (!path.startsWith('/')) {
    throw new UsageError(`${option}: not an absolute path: "${path}"`);
  }
  return path;
}

/** The state directory is on the node, also when we run in a container. */
export function stateFolderOf(options: {
  readonly stateDir?: string;
  readonly hostRoot: string;
}): string {
  const hostRoot = absolute('--host-root', options.hostRoot).replace(/\/+$/, '');
  return absolute('--state-dir', options.stateDir ?? `${hostRoot}${STATE_FOLDER}`);
}

/** "default/web" as `--pod` takes it. */
export function podName(text: string): { readonly namespace: string; readonly name: string } {
  const [namespace, name, ...rest] = text.split('/');
  if (!namespace || !name || rest.length > 0) {
    throw new UsageError(`--pod: not NAMESPACE/NAME, such as default/web: "${text}"`);
  }
  return { namespace, name };
}
