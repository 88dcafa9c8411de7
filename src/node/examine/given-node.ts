import {
  type Answer,
  type FileStatus,
  type NodeReader,
  type Question,
  type QuestionKind,
  ReadError,
  sourceOf,
  type TreeFolder,
} from '../model/node-reader.ts';
import type { GivenRuntime } from './given-runtime.ts';

/** What the given texts can answer of the questions that are asked of a node. */
export interface GivenAnswers {
  readonly now: Date;
  readonly runtime: GivenRuntime;
  /** Directories below the pods of the kubelet that were listed, when any were. */
  readonly volumes: readonly TreeFolder[] | undefined;
}

/** A node of which only some papers are there: it answers from them, and from nothing else. */
export function givenNode(given: GivenAnswers): NodeReader {
  return {
    now: () => given.now,
    ask: async <K extends QuestionKind>(kind: K, question: Question<K>): Promise<Answer<K>> => {
      const answer = answerTo(kind, question, given);
      if (answer === undefined) {
        throw new ReadError('not-recorded', sourceOf(question), 'not among what was given');
      }
      return answer as Answer<K>;
    },
  };
}

function answerTo(
  kind: QuestionKind,
  question: Question<QuestionKind>,
  given: GivenAnswers,
): unknown {
  if (kind === 'tree') return given.volumes;
  if (kind === 'status') return podFolder(question);
  if (kind !== 'runtime' || !('call' in question) || given.runtime.isEmpty) return undefined;
  const { runtime } = given;
  const criVersion = 'v1';
  switch (question.call) {
    case 'Version': {
      const { name = 'runtime', version = '' } = runtime;
      return { criVersion, message: { runtimeName: name, runtimeVersion: version } };
    }
    case 'ListContainers':
      return { criVersion, message: { containers: runtime.containers } };
    case 'ListPodSandbox':
      return { criVersion, message: { items: runtime.sandboxes } };
    default: {
      const status = 'id' in question ? runtime.statusOf(question.id) : undefined;
      return status && { criVersion, message: { status } };
    }
  }
}

// /var/lib/kubelet/pods/29da79e5-386c-4e0d-82c1-215f93ff955d
const POD_FOLDER = /\/pods\/[^/]+$/;

/** A pod that a container names is taken for one that the kubelet knows: the safer of the two. */
function podFolder(question: Question<QuestionKind>): FileStatus | undefined {
  if (!('path' in question) || !POD_FOLDER.test(question.path)) return undefined;
  const none = { mode: 0o750, owner: 0, device: '0:0', inode: '0', links: 2 };
  return { type: 'folder', ...none, sizeBytes: 0, modifiedMs: 0 };
}
