import { API_VERSION, GROUP, kinds, VERSION } from '../../pipeline/api/kinds.ts';

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
