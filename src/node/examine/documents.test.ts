import { expect, test } from 'vitest';
import { documentsIn } from './documents.ts';

test('JSON among other lines is taken out, and what else begins like it stays', () => {
  const pod = '{\n  "kind": "Pod"\n}';
  const text = `$ kubectl get\n${pod}\n[+]ping ok\n{"a":1}\n{ no\n[\n{"b":2},\n{"c":3}\n]\nend`;
  const { documents, rest, unread } = documentsIn(text);
  expect(documents.map(({ value, line }) => [line, value])).toEqual([
    [2, { kind: 'Pod' }],
    [6, { a: 1 }],
    [8, [{ b: 2 }, { c: 3 }]],
  ]);
  expect(rest.split('\n')).toHaveLength(text.split('\n').length);
  expect(rest.replaceAll(/\n+/g, '\n')).toBe('$ kubectl get\n[+]ping ok\n{ no\nend');
  expect(unread).toEqual([]);
});

test('beginnings without an end cost no more than their lines', () => {
  const lines = 50_000;
  for (const start of ['{', '["a', '{"a": [']) {
    const { documents, rest } = documentsIn(`x\n${`${start}\n`.repeat(lines)}}`);
    // The last of them alone may be closed.
    expect(documents.length).toBeLessThanOrEqual(1);
    expect(rest.split('\n')).toHaveLength(lines + 2);
  }
}, 20_000);

test('reports what is too large to be read', () => {
  const deep = `{"kind":"Pod","a":${'['.repeat(1_000)}${']'.repeat(1_000)}}`;
  const why = 'JSON that was not read: nested more than 100 levels deep';
  expect(documentsIn(deep)).toEqual({ documents: [], rest: '', unread: [why] });
  expect(documentsIn(`x\n${deep}\n`).unread).toEqual([why]);
  const yaml = `apiVersion: v1\nkind: Pod\n#${'x'.repeat(1024 * 1024)}\n`;
  expect(documentsIn(yaml).unread).toEqual(['YAML that was not read: there is too much of it']);
  const many = `---\napiVersion: v1\nkind: Pod\n# ${'x'.repeat(900_000)}\n`.repeat(5);
  expect(documentsIn(many).unread).toHaveLength(1);
});
