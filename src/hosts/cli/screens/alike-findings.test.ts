import { expect, test } from 'vitest';
import { findingTable } from './alike-findings.ts';

const rows = [1, 2].map((at) => ({
  id: `a82ba${at}`,
  state: 'latent' as const,
  subject: { namespace: 'production', pod: `web-frontend-${at}`, container: 'app', volume: 'data' },
}));

test('a table that fits has every column with something in it', () => {
  expect(findingTable(rows, 80)).toEqual([
    'FINDING  STATE   POD                        CONTAINER  VOLUME',
    'a82ba1   latent  production/web-frontend-1  app        data',
    'a82ba2   latent  production/web-frontend-2  app        data',
  ]);
});

test('one that does not leaves out what is the same in every row, and cuts nothing else', () => {
  expect(findingTable(rows, 56)).toEqual([
    'FINDING  POD                        CONTAINER  VOLUME',
    'a82ba1   production/web-frontend-1  app        data',
    'a82ba2   production/web-frontend-2  app        data',
  ]);
  expect(findingTable(rows, 40)).toEqual([
    'FINDING  POD',
    'a82ba1   production/web-frontend-1',
    'a82ba2   production/web-frontend-2',
  ]);
});

test('a single row shows what names it', () => {
  expect(findingTable(rows.slice(0, 1), 30)).toEqual([
    'FINDING  POD                        CONTAINER  VOLUME',
    'a82ba1   production/web-frontend-1  app        data',
  ]);
});
