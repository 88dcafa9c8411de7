import { CORDONED_BY } from '../../src/pipeline/api/cluster-names.ts';
import type { ActionGroup, TriedRequest } from './rights-table.ts';
import { TEAM } from './subjects.ts';

/** Pods of the namespace TEAM, besides "web", which has no owner. */
export const PODS = {
  /** Of a StatefulSet, and waits for an image. */
  stuck: 'stuck-0',
  /** Of a StatefulSet, and runs. */
  running: 'running-0',
} as const;

/** Has no owner, and waits for an image. */
export const WAITING = 'waiting';

const NODE = '/api/v1/nodes/node-a';

const patchNode = (body: object): TriedRequest => ({ method: 'PATCH', path: NODE, body });
const cordon = (more: object = {}) => patchNode({ spec: { unschedulable: true }, ...more });
const removePod = (name: string): TriedRequest => ({
  method: 'DELETE',
  path: `/api/v1/namespaces/${TEAM}/pods/${name}`,
});
const annotated = (annotations: object) => cordon({ metadata: { annotations } });

/** What deploy/controller-steps.yaml changes: the controller may do a little more. */
export const controllerStepsActions: ActionGroup = {
  title: 'With `deploy/controller-steps.yaml`',
  actions: [
    { what: 'cordon a Node', request: cordon(), may: ['controller'] },
    {
      what: 'cordon it, and note for which Diagnosis',
      request: annotated({ [CORDONED_BY]: 'team-a/web uid' }),
      may: ['controller'],
    },
    { what: 'cordon it with another annotation', request: annotated({ tried: 'a' }), may: [] },
    {
      what: 'cordon it with a label',
      request: cordon({ metadata: { labels: { tried: 'a' } } }),
      may: [],
    },
    {
      what: 'cordon it with a taint',
      request: patchNode({
        spec: { unschedulable: true, taints: [{ key: 'tried', effect: 'NoExecute' }] },
      }),
      may: [],
    },
    { what: 'label a Node', request: patchNode({ metadata: { labels: { a: 'b' } } }), may: [] },
    {
      what: 'uncordon a Node',
      request: patchNode({ spec: { unschedulable: null } }),
      may: [],
    },
    {
      what: 'delete a Pod of a StatefulSet that waits for an image',
      request: removePod(PODS.stuck),
      // "edit" permits to delete pods of the namespace.
      may: ['controller', 'editor', 'recoverer', 'operator', 'onCall'],
    },
    {
      what: 'delete a Pod of a StatefulSet that runs',
      request: removePod(PODS.running),
      may: ['editor', 'recoverer', 'operator', 'onCall'],
    },
    {
      what: 'delete a Pod without an owner that waits for an image',
      request: removePod(WAITING),
      may: ['editor', 'recoverer', 'operator', 'onCall'],
    },
    {
      what: 'delete a Pod without an owner',
      request: removePod('web'),
      may: ['editor', 'recoverer', 'operator', 'onCall'],
    },
    {
      what: 'read a StatefulSet',
      request: { method: 'GET', path: `/apis/apps/v1/namespaces/${TEAM}/statefulsets/web` },
      may: ['controller', 'viewer', 'editor', 'recoverer', 'operator', 'onCall'],
    },
    {
      what: 'delete a StatefulSet',
      request: { method: 'DELETE', path: `/apis/apps/v1/namespaces/${TEAM}/statefulsets/web` },
      may: ['editor', 'recoverer', 'operator', 'onCall'],
    },
  ],
};
