import { expect, test } from 'vitest';
import { jsonPathText, jsonPathValues, valuesAt } from './json-path.ts';
import { parseJsonPath, parseOnePath } from './parse-json-path.ts';

/** The object that the documentation of kubectl explains its templates by. */
const DOCUMENTED = {
  kind: 'List',
  items: [
    {
      kind: 'None',
      metadata: { name: '127.0.0.1', labels: { 'kubernetes.io/hostname': '127.0.0.1' } },
      status: {
        capacity: { cpu: '4' },
        addresses: [{ type: 'LegacyHostIP', address: '127.0.0.1' }],
      },
    },
    {
      kind: 'None',
      metadata: { name: '127.0.0.2' },
      status: {
        capacity: { cpu: '8' },
        addresses: [
          { type: 'LegacyHostIP', address: '127.0.0.2' },
          { type: 'another', address: '127.0.0.3' },
        ],
      },
    },
  ],
  users: [
    { name: 'myself', user: {} },
    { name: 'e2e', user: { username: 'admin', password: 'secret' } },
  ],
};

test.each([
  ['kind is {.kind}', 'kind is List'],
  ["{.kind} {['kind']}", 'List List'],
  ['{..name}', '127.0.0.1 127.0.0.2 myself e2e'],
  ['{.items[*].metadata.name}', '127.0.0.1 127.0.0.2'],
  ['{.users[0].name}', 'myself'],
  [
    "{.items[*]['metadata.name', 'status.capacity']}",
    '127.0.0.1 127.0.0.2 {"cpu":"4"} {"cpu":"8"}',
  ],
  ['{.users[?(@.name=="e2e")].user.password}', 'secret'],
  [
    '{range .items[*]}[{.metadata.name}, {.status.capacity}] {end}',
    '[127.0.0.1, {"cpu":"4"}] [127.0.0.2, {"cpu":"8"}] ',
  ],
  ['{range .items[*]}{.metadata.name}{"\\t"}{end}', '127.0.0.1\t127.0.0.2\t'],
  [
    '.items labels: {.items[*].metadata.labels.kubernetes\\.io/hostname}',
    '.items labels: 127.0.0.1',
  ],
  ['{.users[-1:].name} {.users[-1].name} {.users[0:1].name}', 'e2e e2e myself'],
])('%s, as kubectl documents it', (template, text) => {
  expect(jsonPathText(parseJsonPath(template), DOCUMENTED)).toBe(text);
});

const VALUE = {
  metadata: { name: 'one', labels: { 'a.b/c': 'd<e' } },
  data: { k: 'v', z: '1' },
  list: [
    { t: 'Ready', n: 1, s: 'True' },
    { t: 'Disk', n: 5 },
    { t: 'Mem', n: 3, s: null },
  ],
  nums: [1, 2, 3, 4, 5, 6],
  half: 1.5,
  yes: true,
};

/** What kubectl v1.36.3 prints of the same value. */
test.each([
  ['{.list[*].t}', 'Ready Disk Mem'],
  ['{.list[0,2].t}', 'Ready Mem'],
  ['{.list[1:].t}', 'Disk Mem'],
  ['{.list[-2:].t}', 'Disk Mem'],
  ['{.nums[0:6:2]}', '1 3 5'],
  ['{.nums[::2]}', '1 3 5'],
  ['{.nums[2:2]}', ''],
  ['{.nums}', '[1,2,3,4,5,6]'],
  ['{.data.*}', 'v 1'],
  ['{.list.*.t}', 'Ready Disk Mem'],
  ['{.list[*]..t}', 'Ready Disk Mem'],
  ["{.list[?(@.t=='Ready')].n}", '1'],
  ['{.list[?(@.n>2)].t}', 'Disk Mem'],
  ['{.list[?(@.n>=3)].t}', 'Disk Mem'],
  ['{.list[?(@.n!=3)].t}', 'Ready Disk'],
  ['{.list[?(@.t>"E")].t}', 'Ready Mem'],
  ['{.list[?(@.s)].t}', 'Ready Mem'],
  ['{.list[?(@.t=="a)]")].n}', ''],
  ['{range .list[*]}{range @.nope[*]}z{end}{.t} {end}{.half}', 'Ready Disk Mem 1.5'],
  ["{.metadata.labels['a\\.b/c']} {.metadata.labels}", 'd<e {"a.b/c":"d\\u003ce"}'],
  ['{.nope}{.list[2].s} {.yes}', 'null true'],
  ['{ .metadata.name }{.metadata .name}', 'oneone'],
  ['{\'a\'}{\'b\\n\'}{"q\\""}{"\\u0041\\x41"}', 'ab\nq"AA'],
  ['{.metadata.name}}', 'one}'],
  ['.metadata.name', '.metadata.name'],
])('%s is %j', (template, text) => {
  expect(jsonPathText(parseJsonPath(template), VALUE)).toBe(text);
});

test.each([
  ['{.metadata', 'error parsing jsonpath {.metadata, unclosed action'],
  ['{.list[}', 'error parsing jsonpath {.list[}, unterminated array'],
  ['{.list[a]}', 'invalid array index a'],
  ['{.list[?(@.t=="R"]}', 'unterminated filter'],
  ['{"open}', 'unterminated quoted string'],
  ['{....t}', 'invalid multiple recursive descent'],
  ['{foo}', 'unrecognized identifier foo'],
  ['{end}', 'not in range, nothing to end'],
  ['{.list[?(@.n>1 && @.n<4)].t}', "unrecognized character in action: '&'"],
  ['{.nums[9]}', 'error executing jsonpath: array index out of bounds: index 9, length 6'],
  ['{.nums[-9]}', 'array index out of bounds: index -3, length 6'],
  ['{.nums[3:2]}', 'starting index 3 is greater than ending index 2'],
  ['{.list[?(@.n=="1")].t}', 'incompatible types for comparison'],
  ['{.metadata[0]}', 'an object is not a list'],
])('%s is refused: %s', (template, why) => {
  expect(() => jsonPathText(parseJsonPath(template), VALUE)).toThrow(why);
});

test('the values alone are a list', () => {
  const template = parseJsonPath('x {range .list[*]}{.n}, {end}{.metadata.name}');
  expect(jsonPathValues(template, VALUE)).toEqual([1, 5, 3, 'one']);
});

test.each(['metadata.name', '.metadata.name', '{metadata.name}', '{.metadata.name}'])(
  '%s is one path',
  (text) => {
    expect(valuesAt(parseOnePath(text), VALUE)).toEqual(['one']);
  },
);

test('text around a path is no path', () => {
  expect(() => parseOnePath('{.a}{.b}')).toThrow("expected a 'name1.name2'");
});
