import { counted } from '../../lib/std/counted.ts';
import { cutSentence } from '../../lib/std/cut-sentence.ts';
import { shortId } from '../../lib/std/short-id.ts';
import { pluginName } from '../../node/evidence/volumes/leftover-names.ts';
import type { Action, ActionKind } from '../../node/model/action.ts';
import type { DiagnosisStatus } from '../api/diagnosis.ts';
import { DESCRIPTION_CHARACTERS_MAX } from './limits.ts';

/** The text of an action: before, during the second check, and when it is done. */
interface ActionText {
  /** "unmount /var/lib/kubelet/...": never shortened. */
  readonly description: string;
  /** What else identifies the target. */
  readonly details: readonly string[];
  /** What the second check has seen: "still the same mount". */
  readonly same: string;
  /** What is true now: "the mount is gone". */
  readonly done: string;
}

type Words = { readonly [K in ActionKind]: (action: Action<K>) => ActionText };

/** Every kind of action has its words, or this does not compile. */
const WORDS: Words = {
  unmount: ({ target, id, device }) => ({
    description: `unmount ${target}`,
    details: [`mount ${id} of the kubelet, on device ${device}, whose source is gone`],
    same: 'still the same mount',
    done: 'the mount is gone',
  }),
  'force-unmount': ({ target, id, device, fsType, podUid }) => ({
    description: `force-unmount ${target}`,
    details: [
      `mount ${id} of the kubelet (${fsType}, ${device}) of the deleted pod ${podUid}`,
      'ends every request to its filesystem; what was not yet sent to its server is lost',
    ],
    same: 'still the same mount, dead, orphaned and unused',
    done: 'the mount is gone, and its path answers',
  }),
  'remove-empty-directory': ({ podUid, plugin, leftovers }) => ({
    description: `remove ${counted(leftovers.length, 'empty directory', 'empty directories')} of ${pluginName(plugin)} in pod ${podUid}`,
    details: ['each by rmdir: left over beside a volume, empty, and mounted in no namespace'],
    same: 'still the same directories, empty, mounted nowhere and unused',
    done: 'the leftover directories are gone',
  }),
  'set-aside': ({ podUid, volume }) => ({
    description: `set aside vol_data.json of volume ${volume}`,
    details: [
      `of the deleted pod ${podUid}; to kubediag-set-aside/${podUid}/${volume}/ below the kubelet's root`,
    ],
    same: 'still the same file, alone, of a deleted pod',
    done: 'the file is out of the way of the kubelet',
  }),
  'remove-container': ({ container, name, sandbox }) => ({
    description: `remove container ${container}`,
    details: [
      `"${name}", by force and in one call, never stopped first; then its sandbox ${shortId(sandbox)} if nothing else is in it`,
    ],
    same: 'still the same container, without a log path',
    done: 'the container is gone',
  }),
  'restore-symlink': ({ path, target }) => ({
    description: `make the link ${path} -> ${target}`,
    details: ['at the root of the node; the path must not exist'],
    same: `${path} is gone, and nothing deletes it again`,
    done: `${path} leads to ${target} again`,
  }),
};

export function wordsOf<K extends ActionKind>(action: Action<K>): ActionText {
  const text: Words[K] = WORDS[action.kind];
  return text(action);
}

/** Of an action that stands in a journal: another version may have written it, of a kind we lack. */
export function recordedText(action: Action): ActionText | undefined {
  return Object.hasOwn(WORDS, action.kind) ? wordsOf(action) : undefined;
}

export type ActionRecord = NonNullable<DiagnosisStatus['actions']>[number];

/** An action as the status of a Diagnosis lists it: what is done, to what, and for which finding. */
export function actionRecord(
  action: Action,
  { fault, finding }: { readonly fault: string; readonly finding: string },
): ActionRecord {
  const { kind } = action;
  const args = recordedText(action);
  if (!args) return { kind, fault, finding };
  const [description = '', ...details] = [args.description, ...args.details].map((each) =>
    cutSentence(each, DESCRIPTION_CHARACTERS_MAX),
  );
  return { kind, fault, finding, description, details };
}
