import { crd } from '../../pipeline/api/crd.ts';
import { API_VERSION, GROUP, type Kind, kinds, VERSION } from '../../pipeline/api/kinds.ts';

/** API discovery for kubectl: the groups, and the kinds of ours. */

const version = { groupVersion: API_VERSION, version: VERSION };
const group = { name: GROUP, versions: [version], preferredVersion: version };
const VERBS = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];

export const noCoreVersions = { kind: 'APIVersions', versions: [] };

export const groupList = { kind: 'APIGroupList', apiVersion: 'v1', groups: [group] };

export const ownGroup = { kind: 'APIGroup', apiVersion: 'v1', ...group };

export const resourceList = {
  kind: 'APIResourceList',
  apiVersion: 'v1',
  groupVersion: API_VERSION,
  resources: kinds.map(({ kind, plural, shortNames, scope }) => ({
    name: plural,
    singularName: kind.toLowerCase(),
    namespaced: scope === 'Namespaced',
    kind,
    verbs: VERBS,
    shortNames,
  })),
};

/** The part of OpenAPI that `kubectl apply` and `kubectl explain` need. */

const DOCUMENT = `/openapi/v3/apis/${API_VERSION}`;

export const openApiIndex = {
  paths: { [`apis/${API_VERSION}`]: { serverRelativeURL: DOCUMENT } },
};

/** Built on request, because the schemas are large. */
export function openApiDocument(): object {
  return {
    openapi: '3.0.0',
    info: { title: 'KubeDiag', version: VERSION },
    paths: Object.fromEntries(kinds.map((kind) => [pathOf(kind), operationsOf(kind)])),
    components: {
      schemas: Object.fromEntries(kinds.map((kind) => [nameOf(kind), schemaOf(kind)])),
    },
  };
}

function pathOf({ plural, scope }: Kind): string {
  const place = scope === 'Namespaced' ? 'namespaces/{namespace}/' : '';
  return `/apis/${API_VERSION}/${place}${plural}/{name}`;
}

function nameOf({ kind }: Kind): string {
  return `org.kubediag.diagnosis.${VERSION}.${kind}`;
}

function operationsOf(kind: Kind): object {
  const parameters = ['dryRun', 'fieldValidation', 'fieldManager'].map((name) => ({
    name,
    in: 'query',
    schema: { type: 'string' },
  }));
  const content = {
    'application/json': { schema: { $ref: `#/components/schemas/${nameOf(kind)}` } },
  };
  const answer = { responses: { 200: { description: 'OK', content } }, ...groupOf(kind) };
  return {
    get: { ...answer, 'x-kubernetes-action': 'get' },
    put: { ...answer, parameters, 'x-kubernetes-action': 'put' },
    patch: { ...answer, parameters, 'x-kubernetes-action': 'patch' },
  };
}

function schemaOf(kind: Kind): object {
  const [described] = crd(kind).spec.versions;
  const identity = { group: GROUP, version: VERSION, kind: kind.kind };
  return { ...described?.schema.openAPIV3Schema, 'x-kubernetes-group-version-kind': [identity] };
}

function groupOf({ kind }: Kind): object {
  return { 'x-kubernetes-group-version-kind': { group: GROUP, version: VERSION, kind } };
}
