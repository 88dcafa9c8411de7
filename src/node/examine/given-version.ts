import { listAt, textAt } from '../../lib/std/json.ts';
import {
  type KubeletVersion,
  parseBuildInfo,
  parseProgramVersion,
} from '../evidence/kubelet/kubelet-version.ts';
import { parseVersionNumber } from '../evidence/text/version-number.ts';
import { type Attempt, attempt } from '../model/evidence.ts';
import type { Origin } from '../model/origin.ts';

/** `kubelet --version`, or the lines of `kubectl get nodes`. */
export async function versionsInText(
  text: string,
  name: string,
): Promise<readonly KubeletVersion[]> {
  const lines = text.split('\n');
  const read = lines.map(async (line, index): Promise<KubeletVersion> => {
    const origin = { file: name, line: index + 1 };
    // worker-7   Ready    <none>   3d   v1.18.8
    const listed = /^\S+\s+(?:Not)?Ready\S*\s+\S+\s+\S+\s+(v\S+)/.exec(line)?.[1];
    if (listed !== undefined) return { ...parseVersionNumber(listed, origin), origin };
    return { ...parseProgramVersion(line, origin), origin };
  });
  return knownOf(await Promise.all(read.map(attempt)));
}

/** A page of metrics has the version of the program that served it. */
export async function versionsInMetrics(
  text: string,
  name: string,
): Promise<readonly KubeletVersion[]> {
  if (!text.includes('kubernetes_build_info')) return [];
  const read = async () => ({ ...parseBuildInfo(text, name), origin: { file: name } });
  return knownOf([await attempt(read())]);
}

// I1115 08:12:12.600016  812 server.go:440] "Kubelet version" kubeletVersion="v1.28.2"
// I0602 06:01:21.244319  812 server.go:417] Version: v1.18.8
// I0602 06:01:21.244319  812 server.go:206] Starting Kubelet Version: v1.4.6
const IN_LOG =
  /(?:kubeletVersion=\\*"|server\.go:\d+\] (?:Starting Kubelet )?Version: |"kubeletVersion":")(v\d[^"\s\\]*)/g;

/** A kubelet logs its version when it starts; the last start counts. */
export async function versionsInLog(
  text: string,
  name: string,
): Promise<readonly KubeletVersion[]> {
  const last = [...text.matchAll(IN_LOG)].at(-1);
  if (!last) return [];
  const line = text.slice(0, last.index).split('\n').length;
  const read = async () => {
    const origin = { file: name, line };
    return { ...parseVersionNumber(last[1] ?? '', origin), origin };
  };
  return knownOf([await attempt(read())]);
}

/** `kubectl get node -o json` */
export async function versionsInNodes(
  value: unknown,
  origin: Origin,
): Promise<readonly KubeletVersion[]> {
  const nodes = listAt(value, 'items') ?? [value];
  const read = nodes.map(async (node) => {
    const text = textAt(node, 'status', 'nodeInfo', 'kubeletVersion') ?? '';
    return { ...parseVersionNumber(text, origin), origin };
  });
  return knownOf(await Promise.all(read.map(attempt)));
}

function knownOf(tried: readonly Attempt<KubeletVersion>[]): readonly KubeletVersion[] {
  return tried.flatMap((each) => (each.known ? [each.value] : []));
}
