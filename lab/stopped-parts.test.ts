import { expect, test } from 'vitest';
import { howToStart, stoppedText } from './stopped-parts.ts';

test('the advice names one stopped daemon, or both', () => {
  expect(`${stoppedText(['kubelet'])}; ${howToStart(['kubelet'], 'a')}`).toBe(
    'its kubelet is stopped; start it: kubediag lab heal --name a',
  );
  expect(`${stoppedText(['kubelet', 'runtime'])}; ${howToStart(['kubelet', 'runtime'], 'a')}`).toBe(
    'its kubelet and its runtime are stopped; start them: kubediag lab heal --name a',
  );
});
