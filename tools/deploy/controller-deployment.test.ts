import { expect, test } from 'vitest';
import { fieldAt } from '../../src/lib/std/json.ts';
import { controllerDeployment } from './controller-deployment.ts';

test('the user of the controller can read the token that a kubelet before v1.19 has written', () => {
  const [{ object } = {}] = controllerDeployment('v1');
  const pod = ['spec', 'template', 'spec'];
  const user = fieldAt(object, ...pod, 'containers', '0', 'securityContext', 'runAsUser');
  expect(user).toBeGreaterThan(0);
  expect(fieldAt(object, ...pod, 'securityContext', 'fsGroup')).toBe(user);
});
