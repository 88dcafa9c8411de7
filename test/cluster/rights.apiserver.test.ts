import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textAt } from '../../src/lib/std/json.ts';
import {
  AGENT_ACCOUNT,
  CONTROLLER_ACCOUNT,
  CONTROLLER_LEASE,
  NAMESPACE,
} from '../../src/pipeline/api/cluster-names.ts';
import { controllerStepsActions } from '../../tools/rights/controller-steps-actions.ts';
import { type Action, rightsTable, type TriedRequest } from '../../tools/rights/rights-table.ts';
import { type SubjectId, subjectIds } from '../../tools/rights/subjects.ts';
import { type InstalledServer, startInstalledServer } from '../rig/installed-server.ts';
import { requestAs, type Sender } from '../rig/request-as.ts';
import {
  bindings,
  MISLEADING_AGENT,
  neededObjects,
  nodeStatus,
  podStatuses,
} from './rights-objects.ts';

/** Every cell of docs/reference/rights.md, tried by a request. */

const SOON = { timeout: 60_000, interval: 200 };
const START_MS = 180_000;

let server: InstalledServer;
const senders = new Map<SubjectId, Sender>();

beforeAll(async () => {
  server = await startInstalledServer();
  // As on a cluster that has nothing of ours.
  await server.kubectl('delete', 'crd', '--all');
}, START_MS);

afterAll(async () => {
  await server.stop();
});

it(
  'is installed by one command, which prints no warning',
  async () => {
    const first = await server.kubectl('apply', '--filename=deploy/kubediag.yaml');
    expect(first).toMatchObject({ code: 0, stderr: '' });
    const again = await server.kubectl('apply', '--filename=deploy/kubediag.yaml');
    expect(again.stderr).toBe('');
    const changed = again.stdout.split('\n').filter((line) => !line.endsWith(' unchanged') && line);
    // kubectl replaces the selector of a PodDisruptionBudget each time.
    expect(changed).toEqual(['poddisruptionbudget.policy/kubediag-controller configured']);
    const byServer = ['apply', '--server-side', '--force-conflicts'];
    const other = await server.kubectl(...byServer, '--filename=deploy/kubediag.yaml');
    expect(other).toMatchObject({ code: 0, stderr: '' });
    const steps = await server.kubectl('apply', '--filename=deploy/controller-steps.yaml');
    expect(steps).toMatchObject({ code: 0, stderr: '' });
    await server.kubectl('delete', '--filename=deploy/controller-steps.yaml');
  },
  START_MS,
);

it(
  'has policies without type errors',
  async () => {
    const status = '-o=jsonpath={range .items[*]}{.status.typeChecking}{"\\n"}{end}';
    const list = await server.kubectl('get', 'validatingadmissionpolicies', '-o=name');
    const count = list.stdout.trim().split('\n').length;
    expect(count).toBeGreaterThan(10);
    const checked = async () =>
      (await server.kubectl('get', 'validatingadmissionpolicies', status)).stdout;
    await expect.poll(checked, SOON).toBe('{}\n'.repeat(count));
  },
  START_MS,
);

describe('what everybody may do', () => {
  beforeAll(async () => {
    await server.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');
    await server.create(...neededObjects, ...bindings);
    for (const node of ['node-a', 'node-b']) {
      const path = `/api/v1/nodes/${node}/status`;
      const contentType = 'application/strategic-merge-patch+json';
      await server.api.client.request({ method: 'PATCH', path, contentType, body: nodeStatus });
    }
    for (const { path, body } of podStatuses) {
      const contentType = 'application/merge-patch+json';
      await server.api.client.request({ method: 'PATCH', path, contentType, body });
    }
    await findSenders();
  }, START_MS);

  // The API server follows policies, bindings and aggregated roles a moment later.
  it(
    'is in force soon',
    async () => {
      const answers = async () => [
        await tried('editor', requestOf('… with `recovery: Approval`')),
        await tried('editor', requestOf('create a Diagnosis of a node')),
        await tried('admin', requestOf('read all NodeReports')),
        await tried('agent', requestOf('… and write the condition Ready of node-a as well')),
        await tried('controller', requestOf('create an Operation with a script')),
      ];
      await expect.poll(answers, SOON).toEqual(['may', 'may not', 'may', 'may not', 'may not']);
    },
    START_MS,
  );

  describe.each(rightsTable)('$title', ({ actions }) => {
    it.each(actions)('$what', expectRights);
  });

  it('an agent cannot lead, even on a Node with the name of the Lease of the controllers', async () => {
    const agent = await agentOf(MISLEADING_AGENT);
    const lead = requestOf('hold the Lease of the controller');
    const { code, body } = await requestAs(server.api, agent, lead);
    const why = `node ${CONTROLLER_LEASE}: the agent may not write Lease ${CONTROLLER_LEASE}`;
    expect({ code, body }).toEqual({ code: 403, body: expect.stringContaining(why) });
  });

  describe('With controller-steps.yaml', () => {
    const { actions } = controllerStepsActions;
    it(
      'is in force soon',
      async () => {
        await server.kubectl('apply', '--filename=deploy/controller-steps.yaml');
        const [cordon] = actions;
        await expect.poll(() => cordon && tried('controller', cordon.request), SOON).toBe('may');
      },
      START_MS,
    );

    it.each(actions)('$what', expectRights);
  });
});

/** Everybody sends the request. */
async function expectRights({ request, may, rule }: Action): Promise<void> {
  const answers = await Promise.all(
    subjectIds.map(async (id) => [id, await tried(id, request, rule)] as const),
  );
  const expected = subjectIds.map((id) => [id, may.includes(id) ? 'may' : 'may not']);
  expect(Object.fromEntries(answers)).toEqual(Object.fromEntries(expected));
}

/** "may", "may not", or an answer that says neither. */
async function tried(id: SubjectId, request: TriedRequest, rule?: string): Promise<string> {
  const sender = senders.get(id);
  if (!sender) throw new Error(`${id} has no credential`);
  const { code, body } = await requestAs(server.api, sender, request);
  if (code >= 200 && code < 300) return 'may';
  const isInvalid = code === 422 && rule !== undefined && body.includes(rule);
  return code === 403 || isInvalid ? 'may not' : `${code}: ${body}`;
}

async function findSenders(): Promise<void> {
  for (const id of subjectIds) senders.set(id, { user: id });
  senders.set('executor', 'anonymous');
  senders.set('agent', await agentOf('agent-a'));
  senders.set('controller', { token: await tokenOf(CONTROLLER_ACCOUNT, {}) });
}

/** The agent in this pod. */
async function agentOf(name: string): Promise<Sender> {
  const path = `/api/v1/namespaces/${NAMESPACE}/pods/${name}`;
  const uid = textAt(await server.api.client.request({ method: 'GET', path }), 'metadata', 'uid');
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name, uid };
  return { token: await tokenOf(AGENT_ACCOUNT, { boundObjectRef }) };
}

async function tokenOf(account: string, spec: object): Promise<string> {
  const answer = await server.api.client.request({
    method: 'POST',
    path: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts/${account}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
  });
  return textAt(answer, 'status', 'token') ?? '';
}

function requestOf(what: string): TriedRequest {
  const action = rightsTable.flatMap(({ actions }) => actions).find((each) => each.what === what);
  if (!action) throw new Error(`no action: ${what}`);
  return action.request;
}
