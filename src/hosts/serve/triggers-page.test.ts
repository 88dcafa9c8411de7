import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { syntheticAgent } from '../../../test/synthetic-agent.ts';

const PAGE = readFileSync('docs/triggers.md', 'utf8');
const API = 'diagnosis.kubediag.org/v1';

function blocks(language: string): readonly string[] {
  const fences = PAGE.matchAll(new RegExp(`\`\`\`${language}\n(.*?)\n\`\`\``, 'gs'));
  return [...fences].map(([, text = '']) => text);
}

async function sent(url: string, token: string, path: string, body?: unknown): Promise<unknown> {
  const answer = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return answer.json();
}

test('the example of the page works, and a restart does not repeat it', async () => {
  const agent = await syntheticAgent();
  const { url, newToken: token = '' } = agent;
  const apply = (kind: string, name: string, spec: object) =>
    sent(url, token, `/apis/${API}/${kind.toLowerCase()}s`, {
      apiVersion: API,
      kind,
      metadata: { name },
      spec,
    });
  await apply('Operation', 'report', {
    processor: { scriptRunner: { script: 'echo the clock is late' } },
  });
  await apply('OperationSet', 'clock', {
    adjacencyList: [{ to: [1] }, { operation: 'report' }],
  });
  const [trigger = ''] = blocks('yaml');
  await sent(url, token, `/apis/${API}/triggers`, parse(trigger));

  const [alerts = '', answer = ''] = blocks('json');
  const answered = (await sent(url, token, '/api/v2/alerts', JSON.parse(alerts))) as {
    readonly results: readonly { readonly diagnoses: readonly string[] }[];
  };
  const withoutTime = (value: unknown) => JSON.stringify(value).replace(/[.]\d{10}"/g, '.TIME"');
  expect(withoutTime(answered)).toBe(withoutTime(JSON.parse(answer)));

  const [name = ''] = answered.results[0]?.diagnoses ?? [];
  const diagnosis = `/apis/${API}/namespaces/kubediag/diagnoses/${name}`;
  await expect
    .poll(() => sent(url, token, diagnosis), { timeout: 20_000 })
    .toMatchObject({
      metadata: {
        annotations: {
          'diagnosis.kubediag.org/prometheus-alert': 'NodeClockNotSynchronising[ca723ca][active]',
        },
      },
      spec: { nodeName: 'my-node', parameters: { depth: '2', severity: 'warning' } },
      status: { phase: 'Succeeded' },
    });

  const metrics = await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${token}` } });
  const numbers = await metrics.text();
  expect(numbers).toContain('\nprometheus_alert_received_count 1\n');
  expect(numbers).toContain('\nalertmanager_diagnosis_generation_success_count 1\n');
  expect(numbers).toContain('\nalertmanager_diagnosis_generation_error_count 0\n');

  await agent.stop();
  const again = await syntheticAgent(agent.stateDir.replace(/\/state$/, ''));
  expect(await sent(again.url, token, '/api/v1/alerts', JSON.parse(alerts))).toMatchObject({
    results: [
      {
        diagnoses: [],
        notes: [expect.stringMatching(/^Trigger clock: repeated: it created a Diagnosis/)],
      },
    ],
  });
});
