import { textAt } from '../../../lib/std/json.ts';
import { defineEvidence, type Snapshot } from '../../model/evidence.ts';
import { ReadError } from '../../model/node-reader.ts';
import type { Origin } from '../../model/origin.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import { CONFIG_CHARACTERS_MAX, CONFIG_FILES_MAX } from '../limits.ts';
import { absolutePath, unlessMissing } from '../text/file-path.ts';
import { yamlValue } from '../text/yaml-value.ts';

/** The static pods in files of this node, and whether there may be others. */
export interface StaticPods {
  /** Uids in the files. If a file has none, the kubelet generates 32 hexadecimal digits. */
  readonly uids: ReadonlySet<string>;
  /** There is no such file. */
  readonly isNone: boolean;
  /** Why there may be other static pods that we cannot read. */
  readonly unreadable?: string;
  /** What follows for a pod whose uid is not among them. */
  readonly claim: string;
  readonly origin: Origin;
}

export const staticPods = defineEvidence<StaticPods>({
  id: 'static-pods',
  title: 'Static pods of this node',
  collect: async (snapshot) => {
    const { staticPodPath, process, unknowns, hasStaticPodUrl } = await snapshot.of(kubelet);
    // A file that could not be read may set a URL.
    const reasons = hasStaticPodUrl ? [FROM_AN_ADDRESS, ...unknowns] : unknowns;
    const unreadable = reasons.length > 0 ? { unreadable: reasons.join('; ') } : {};
    if (!process || staticPodPath === undefined) {
      // A file that could not be read may set their path.
      if (unknowns.length > 0) throw new ReadError('failed', 'static pods', unknowns.join('; '));
      const claim = 'the kubelet has no directory of static pods';
      return { uids: new Set(), isNone: true, claim, origin: SETTINGS, ...unreadable };
    }
    const view = `/proc/${process.pid}/root${absolutePath(staticPodPath, process.workingFolder)}`;
    const files = await filesAt(snapshot, view);
    const uids = new Set<string>();
    for (const file of files) {
      const text = await unlessMissing(snapshot.node.ask('file', { path: file }));
      const uid = text === undefined ? undefined : uidIn(text, file);
      if (uid !== undefined) uids.add(uid);
    }
    const claim = `none of the ${files.length} files of static pods has its uid`;
    return { uids, isNone: files.length === 0, claim, origin: { file: view }, ...unreadable };
  },
});

const SETTINGS: Origin = { source: "the kubelet's settings" };

const FROM_AN_ADDRESS =
  'the kubelet takes static pods from an address too (staticPodURL), which cannot be asked';

/** The path may be a directory, or a single file. */
async function filesAt(snapshot: Snapshot, view: string): Promise<readonly string[]> {
  const status = await unlessMissing(snapshot.node.ask('status', { path: view }));
  if (!status) return [];
  if (status.type === 'file') return [view];
  const names = await snapshot.node.ask('folder', { path: view });
  // The kubelet skips names that begin with a dot.
  const files = names.filter((name) => !name.startsWith('.'));
  if (files.length > CONFIG_FILES_MAX) throw new ReadError('too-large', view);
  return files.toSorted().map((name) => `${view}/${name}`);
}

function uidIn(text: string, source: string): string | undefined {
  if (text.length > CONFIG_CHARACTERS_MAX) throw new ReadError('too-large', source);
  // The kubelet ignores a file that is neither YAML nor JSON.
  return textAt(yamlValue(text)?.value, 'metadata', 'uid');
}
