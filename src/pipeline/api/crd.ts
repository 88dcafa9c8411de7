import { GROUP, type Kind, VERSION } from './kinds.ts';
import { structuralSchema } from './structural-schema.ts';

/** The CustomResourceDefinition of a kind, as `kubectl apply` accepts it. */
export function crd(kind: Kind) {
  const { plural, shortNames, scope, columns, status } = kind;
  const singular = kind.kind.toLowerCase();
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${GROUP}`,
      labels: { 'app.kubernetes.io/part-of': 'kubediag' },
    },
    spec: {
      group: GROUP,
      scope,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural,
        singular,
        shortNames,
        categories: ['kubediag'],
      },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          ...(status ? { subresources: { status: {} } } : {}),
          additionalPrinterColumns: columns,
          schema: { openAPIV3Schema: resourceSchema(kind) },
        },
      ],
    },
  };
}

function resourceSchema({ description, spec, status }: Kind) {
  return {
    description,
    type: 'object',
    required: ['spec'],
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: structuralSchema(spec),
      ...(status ? { status: structuralSchema(status) } : {}),
    },
  };
}
