import { describe, expect, test } from 'vitest';
import { BASE, syntheticServer, TOKEN } from '../../../test/synthetic-server.ts';
import type { StoredObject } from '../../pipeline/store/store.ts';

const API = 'diagnosis.kubediag.org/v1';
const DIAGNOSES = `${BASE}/namespaces/default/diagnoses`;
const MERGE = {
  authorization: `Bearer ${TOKEN}`,
  'content-type': 'application/merge-patch+json',
};

const diagnosis = (name: string, more: object = {}) => ({
  apiVersion: API,
  kind: 'Diagnosis' as const,
  metadata: { name },
  spec: { operationSet: 'set', nodeName: 'my-node', ...more },
});

const objectIn = ({ text }: { readonly text: string }) => JSON.parse(text) as StoredObject;

/** Node sends the body of a deletion without its length. */
const deletion = (options: object) => {
  const body = JSON.stringify(options);
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-length': String(body.length) };
  return ['DELETE', `${DIAGNOSES}/a`, body, headers] as const;
};

describe('an unknown field', () => {
  const mistyped = diagnosis('a', { Recovery: 'Approval' });

  test('is rejected by default and with Strict, as by an API server', async () => {
    const { ask, store } = await syntheticServer();
    for (const query of ['', '?fieldValidation=', '?fieldValidation=Strict']) {
      const { code, text } = await ask('POST', `${DIAGNOSES}${query}`, mistyped);
      expect(code, query).toBe(400);
      expect(JSON.parse(text)).toMatchObject({
        reason: 'BadRequest',
        message: expect.stringContaining('strict decoding error: spec.Recovery: unknown field'),
        details: {
          causes: [{ field: 'spec.Recovery', message: 'unknown field: did you mean "recovery"?' }],
        },
      });
    }
    expect((await store.list('Diagnosis')).items).toEqual([]);
    await ask('POST', DIAGNOSES, diagnosis('a'));
    const patched = await ask('PATCH', `${DIAGNOSES}/a`, { spec: { Recovery: 'Never' } }, MERGE);
    expect(patched.code).toBe(400);
  });

  test.each([
    ['Warn', `299 - "spec.Recovery: unknown field, dropped: did you mean 'recovery'?"`],
    ['Ignore', undefined],
  ])('is dropped with %s', async (validation, warning) => {
    const { ask } = await syntheticServer();
    const fixture = await ask('POST', `${DIAGNOSES}?fieldValidation=${validation}`, mistyped);
    expect(fixture.code).toBe(201);
    expect(fixture.headers.warning).toBe(warning);
    expect(objectIn(fixture).spec).toEqual({ operationSet: 'set', nodeName: 'my-node' });
  });

  test('of an older agent does not prevent another change', async () => {
    const { ask, store } = await syntheticServer();
    const { metadata, spec } = mistyped;
    const old = { metadata: { ...metadata, namespace: 'default' }, spec };
    await store.create({ apiVersion: API, kind: 'Diagnosis', ...old });
    const labels = { metadata: { labels: { seen: 'yes' } } };
    expect(await ask('PATCH', `${DIAGNOSES}/a`, labels, MERGE)).toMatchObject({ code: 200 });
  });

  test('is not mixed up with an unknown validation', async () => {
    const { ask } = await syntheticServer();
    const { code, text } = await ask('POST', `${DIAGNOSES}?fieldValidation=warn`, mistyped);
    expect(code).toBe(422);
    expect(text).toContain('use \\"Strict\\", \\"Warn\\", \\"Ignore\\"');
  });
});

test('rejects a duplicate field', async () => {
  const { ask, store } = await syntheticServer();
  const text = JSON.stringify(diagnosis('a', { recovery: 'Approval' }));
  const twice = text.replace('"recovery"', '"r\\u0065covery":"Automatic","recovery"');
  expect(JSON.parse(twice)).toEqual(JSON.parse(text));
  const fixture = await ask('POST', `${DIAGNOSES}?fieldValidation=Ignore`, twice);
  expect(fixture.code).toBe(400);
  expect(fixture.text).toContain('strict decoding error: spec.recovery: duplicate field');
  expect((await store.list('Diagnosis')).items).toEqual([]);
  await ask('POST', DIAGNOSES, diagnosis('a'));
  const patch = '{"spec":{"suspend":true,"suspend":false}}';
  expect((await ask('PATCH', `${DIAGNOSES}/a`, patch, MERGE)).code).toBe(400);
});

describe('a dry run', () => {
  test('answers as the real request would, and changes nothing', async () => {
    const { ask, store } = await syntheticServer();
    const fixture = await ask('POST', `${DIAGNOSES}?dryRun=All`, diagnosis('a'));
    expect(fixture.code).toBe(201);
    expect(objectIn(fixture)).toMatchObject({
      metadata: { name: 'a' },
      spec: { nodeName: 'my-node' },
    });
    expect((await store.list('Diagnosis')).items).toEqual([]);

    const stored = objectIn(await ask('POST', DIAGNOSES, diagnosis('a')));
    expect((await ask('POST', `${DIAGNOSES}?dryRun=All`, diagnosis('a'))).code).toBe(409);
    const patch = { spec: { suspend: true } };
    const patched = await ask('PATCH', `${DIAGNOSES}/a?dryRun=All`, patch, MERGE);
    expect(objectIn(patched)).toMatchObject({ metadata: { generation: 2 }, ...patch });
    expect((await ask('DELETE', `${DIAGNOSES}/a?dryRun=All`)).code).toBe(200);
    // kubectl sends it in the body of a deletion.
    expect((await ask(...deletion({ dryRun: ['All'] }))).code).toBe(200);
    expect(objectIn(await ask('GET', `${DIAGNOSES}/a`))).toEqual(stored);
  });

  test.each(['all', 'true', ''])('of a word that is not known is refused: "%s"', async (word) => {
    const { ask, store } = await syntheticServer();
    const { code } = await ask('POST', `${DIAGNOSES}?dryRun=${word}`, diagnosis('a'));
    expect(code).toBe(422);
    expect((await store.list('Diagnosis')).items).toEqual([]);
    await ask('POST', DIAGNOSES, diagnosis('a'));
    expect((await ask(...deletion({ dryRun: [word] }))).code).toBe(422);
    expect((await ask('GET', `${DIAGNOSES}/a`)).code).toBe(200);
  });
});
