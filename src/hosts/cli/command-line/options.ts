import { defined } from '../../../lib/std/defined.ts';
import { UsageError } from '../../../lib/terminal/usage-error.ts';
import type { SnapshotOptions } from '../../../node/model/evidence.ts';

/** How the node is reached: the same options wherever a command looks at one. */
export interface NodeOptions {
  readonly timeout: string;
  readonly hostRoot: string;
  readonly kubeletRoot?: string;
  readonly kubeletPid?: string;
  readonly runtimeEndpoint?: string;
  readonly kubeletTokenFile?: string;
  readonly kubeletCert?: string;
  readonly kubeletKey?: string;
  readonly kubeletLog?: string;
  readonly minAge?: string;
}

export function snapshotOptionsOf(options: NodeOptions): SnapshotOptions {
  const { kubeletPid, kubeletRoot, runtimeEndpoint, kubeletLog, minAge } = options;
  return defined({
    ...(kubeletPid === undefined ? {} : { kubeletPid: integer('--kubelet-pid', kubeletPid) }),
    ...(kubeletRoot === undefined ? {} : { kubeletRoot: absolute('--kubelet-root', kubeletRoot) }),
    runtimeEndpoint,
    ...(kubeletLog === undefined ? {} : { kubeletLog: absolute('--kubelet-log', kubeletLog) }),
    ...(minAge === undefined ? {} : { minimumAgeMs: durationMs('--min-age', minAge) }),
  });
}

// 30, 30s, 500ms, 2m, 6h
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/;
const UNIT_MS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

export function durationMs(option: string, text: string, most = '60m'): number {
  const ms = msOf(text);
  if (!(ms > 0 && ms <= msOf(most))) {
    throw new UsageError(`${option} takes a time such as 30s or 2m, up to ${most}, not "${text}"`);
  }
  return ms;
}

function msOf(text: string): number {
  const [, amount, unit = 's'] = DURATION.exec(text) ?? [];
  return Number(amount) * (UNIT_MS[unit] ?? Number.NaN);
}

export function integer(option: string, text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text)) throw new UsageError(`${option} takes a number, not "${text}"`);
  return Number(text);
}

export function absolute(option: string, path: string): string {
  if (!path.startsWith('/')) {
    throw new UsageError(`${option} takes a path that begins with "/", not "${path}"`);
  }
  return path;
}

/** Where journal and bundles are kept: on the node, also when we see it from a container. */
export function stateFolderOf(options: {
  readonly stateDir?: string;
  readonly hostRoot: string;
}): string {
  const hostRoot = absolute('--host-root', options.hostRoot).replace(/\/+$/, '');
  return absolute('--state-dir', options.stateDir ?? `${hostRoot}${STATE_FOLDER}`);
}

export const STATE_FOLDER = '/var/lib/kubediag';

/** "default/web" as `--pod` takes it. */
export function podName(text: string): { readonly namespace: string; readonly name: string } {
  const [namespace, name, ...rest] = text.split('/');
  if (!namespace || !name || rest.length > 0) {
    throw new UsageError(`--pod takes NAMESPACE/NAME, for example default/web, not "${text}"`);
  }
  return { namespace, name };
}
