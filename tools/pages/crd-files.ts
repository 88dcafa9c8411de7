import { stringify } from 'yaml';
import { crd } from '../../src/pipeline/api/crd.ts';
import { clusterKinds } from '../../src/pipeline/api/kinds.ts';

/** deploy/crds/*.yaml: one file for each kind, with its schema. */
export const crdFiles = clusterKinds.map((kind) => ({
  writes: `deploy/crds/${kind.plural}.yaml`,
  from: 'src/pipeline/api',
  make: () => stringify(crd(kind), { lineWidth: 100, aliasDuplicateObjects: false }),
}));
