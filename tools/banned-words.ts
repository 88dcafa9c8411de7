import type { SourceFile } from './source-files.ts';

/** Words that this project used in a meaning of its own, and the established words for them. */
const BANNED: readonly { readonly words: string; readonly write: string }[] = [
  { words: 'deeds?', write: 'action' },
  { words: 'told|tells?|telling|untold', write: 'report, show, message' },
  { words: 'wish|wishes|wished', write: 'options, request' },
  { words: 'mishaps?|troubles?', write: 'error, failure' },
  { words: 'lends?|lent|lending|borrow|borrows|borrowed', write: 'with…, acquire' },
  { words: '(?<!from |is )happenings?', write: 'trigger event' },
  { words: 'left-overs?', write: 'leftover' },
  {
    words: '(?:a|the|new|each|every|second|last|next|own) look|looks again|look(?:s|ed) at',
    write: 'check; snapshot for data',
  },
  { words: 'eyes|hands', write: 'reader, repair; pass, return' },
  { words: "(?<!')by hand", write: 'manually' },
  { words: 'rooms?', write: 'module; space' },
  { words: 'walls?(?! clock)', write: 'import rule' },
  { words: 'doors?', write: 'entry point, endpoint' },
  { words: 'the house', write: 'architecture, project' },
  { words: '(?<!hello |of )worlds?', write: 'backend, node reader' },
  { words: 'doubts?|doubtful', write: 'unknown, open question' },
  { words: 'strangers?', write: 'unknown pod, unknown container' },
  { words: 'kept|keeps', write: 'stored, stores, retains' },
  { words: 'whoever', write: 'the process, the caller, the user' },
  { words: '(?-i:sat|unsat)', write: 'run' },
  { words: 'hurts?', write: 'active' },
  { words: 'calm', write: 'healthy baseline' },
  { words: 'seal|sealed', write: 'checksum' },
  { words: 'furnish|furnishes|furnished', write: 'set up' },
  {
    words: 'the whole(?=[.,;:)]| (?:is|was|may|must|takes?|ends?|has|fails?)\\b)',
    write: 'the Diagnosis, the check, the total',
  },
];

const wholeWords = (words: string, flags: string) =>
  new RegExp(`(?<![\\w-])(?:${words})(?![\\w-])`, flags);
const ANY = wholeWords(BANNED.map(({ words }) => words).join('|'), 'gi');
const PATTERNS = BANNED.map(({ words, write }) => ({
  pattern: new RegExp(`^(?:${words})(?![\\w-])`, 'i'),
  write,
}));

// madeHands, KEPT_BYTES_MAX and `deed` of a string are seen as "made Hands", "KEPT BYTES MAX", "deed".
const JOINT = /(?<=[a-z0-9])(?=[A-Z])|_/g;
// `status.actions[].description`
const CODE_SPAN = /`[^`\n]*`/g;

/** The banned words of a file, as "path:line word: write this". Names that a document quotes are not meant. */
export function bannedWords({ path, text }: SourceFile): readonly string[] {
  const prose = path.endsWith('.md') ? text.replace(CODE_SPAN, '``') : text;
  return prose.split('\n').flatMap((line, index) =>
    [...line.replace(JOINT, ' ').matchAll(ANY)].map(({ 0: word, input, index: at }) => {
      const { write } = PATTERNS.find(({ pattern }) => pattern.test(input.slice(at))) ?? {};
      return `${path}:${index + 1} "${word.toLowerCase()}": write ${write}`;
    }),
  );
}
