import { expect, test } from 'vitest';
import { access } from './access.ts';
import { controllerAccess } from './controller-access.ts';
import { peopleRoles } from './people-roles.ts';
import type { Rule } from './role.ts';

const rules = [...access, ...controllerAccess, ...peopleRoles].flatMap(({ object }) =>
  'rules' in object ? (object.rules as readonly Rule[]) : [],
);

test('no rule has a wildcard, a Secret, or a way into pods', () => {
  expect(rules.length).toBeGreaterThan(15);
  const all = rules.map(({ resources, verbs }) => JSON.stringify({ resources, verbs })).join('\n');
  expect(all).not.toMatch(/"[*]"|secrets|pods\/|proxy|impersonate|escalate|"bind"/);
});

test('no process of ours may change pods, workloads, roles or policies', () => {
  const changing = [...access, ...controllerAccess]
    .flatMap(({ object }) => ('rules' in object ? (object.rules as readonly Rule[]) : []))
    .filter(({ verbs }) => !verbs.every((verb) => /^(get|list|watch)$/.test(verb)))
    .flatMap(({ apiGroups, resources }) =>
      resources.map((resource) => `${resource}.${apiGroups.join()}`),
    );
  const foreign = [...new Set(changing)].filter((each) => !each.endsWith('.kubediag.org'));
  expect(foreign.toSorted()).toEqual([
    'events.events.k8s.io',
    'leases.coordination.k8s.io',
    'nodes/status.',
  ]);
});
