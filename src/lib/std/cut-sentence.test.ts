import { expect, test } from 'vitest';
import { cutSentence } from './cut-sentence.ts';

test.each([
  ['a short text', 'The pod waits.', 20, 'The pod waits.'],
  ['a sentence', 'The pod waits. It has no volume.', 20, 'The pod waits ... (19 more characters)'],
  ['a clause', 'the pod waits; it has no volume', 20, 'the pod waits ... (18 more characters)'],
  ['a word', 'the pod is waiting for a volume', 20, 'the pod is waiting ... (13 more characters)'],
  ['nothing to cut at', 'x'.repeat(30), 20, `${'x'.repeat(20)} ... (10 more characters)`],
  [
    'an address',
    'see http://a.b/c;d for what it is',
    20,
    'see http://a.b/c;d ... (15 more characters)',
  ],
])('%s is not cut in the middle', (_, text, most, expected) => {
  expect(cutSentence(text, most)).toBe(expected);
});
