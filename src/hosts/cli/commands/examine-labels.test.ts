import { describe, expect, test } from 'vitest';
import { LABELLED_TEXTS } from '../../../../test/labelled-texts.ts';
import { textsOf } from '../input/read-given.ts';
import { examinedReport } from './examine.ts';

const judged = async (text: string) => {
  const files = textsOf('given.txt', Buffer.from(text));
  return (await examinedReport({ files, unread: [] }, 0)).faults;
};

/** As a chat, a terminal or a mail cuts: at the end of a line, or anywhere in it. */
function cutsOf(text: string): readonly string[] {
  const PIECES = 9;
  const places = Array.from({ length: PIECES }, (_, index) =>
    Math.round((text.length * (index + 1)) / (PIECES + 1)),
  );
  return [...places, text.length - 1, text.indexOf('\n') + 1].map((end) => text.slice(0, end));
}

describe('a text alone', () => {
  const positives = LABELLED_TEXTS.flatMap(({ what, text, label }) =>
    label ? [[what, label.fault, label.verdict, text] as const] : [],
  );
  test.each(positives)('%s: %s is %s', async (_what, fault, verdict, text) => {
    const faults = await judged(text);
    const about = faults.find(({ name }) => name === fault);
    expect(about?.verdict).toBe(verdict === 'found' ? 'found' : 'unknown');
    if (verdict === 'suspected') expect(about?.reason).toContain('suspected');
    const others = faults.filter(({ name }) => name !== fault);
    expect(new Set(others.map((each) => each.verdict))).toEqual(new Set(['unknown']));
  });

  const negatives = LABELLED_TEXTS.flatMap(({ what, text, label }) =>
    label ? [] : [[what, text] as const],
  );
  test.each(negatives)('%s: nothing is found, or suspected', async (_what, text) => {
    const faults = await judged(text);
    expect(new Set(faults.map(({ verdict }) => verdict))).toEqual(new Set(['unknown']));
    const reasons = faults.map(({ reason = '' }) => reason).join('\n');
    expect(reasons).not.toContain('suspected');
    expect(reasons).not.toContain('is blocked');
  });

  test.each(LABELLED_TEXTS.map(({ what, text, label }) => [what, text, label] as const))(
    '%s, cut: never clear, and no more than before',
    async (_what, text, label) => {
      for (const cut of cutsOf(text)) {
        for (const { name, verdict } of await judged(cut)) {
          expect(verdict).not.toBe('clear');
          const mayBeFound = label?.fault === name && (label.cut ?? label.verdict) === 'found';
          if (!mayBeFound) expect([name, verdict, cut]).toEqual([name, 'unknown', cut]);
        }
      }
    },
  );
});
