import { expect, test } from 'vitest';
import { servedLines } from './served-lines.ts';

test('the output of serve says how to reach the practice node', () => {
  const text = servedLines({
    name: 'mine',
    url: 'http://127.0.0.1:9',
    token: '/proc/7/root/token',
    program: 'dist/kubediag',
  });
  expect(text).toMatch(/^The agent on PRACTICE NODE mine listens on http:\/\/127.0.0.1:9\n/);
  expect(text).toContain('dist/kubediag lab run --name mine -- kubediag get diagnoses');
  expect(servedLines({ name: 'practice', url: 'u', token: 't', program: 'k' })).not.toContain(
    '--name',
  );
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
});
