import * as z from 'zod';
import { count, flag, port, text } from './fields.ts';
import {
  ARGUMENTS_MAX,
  CA_BUNDLE_CHARACTERS_MAX,
  CODE_FILES_MAX,
  NAME_CHARACTERS_MAX,
  PATH_CHARACTERS_MAX,
  RETRIES_MAX,
  TIMEOUT_SECONDS_DEFAULT,
  TIMEOUT_SECONDS_MAX,
} from './limits.ts';
import { patterned, type Rule, ruled } from './rules.ts';

// my-node, metrics.example.org., under_score, 10.0.0.1, fd00::1
const ADDRESS =
  /^(([A-Za-z0-9_][A-Za-z0-9_-]{0,62}[.])*[A-Za-z0-9_][A-Za-z0-9_-]{0,62}[._]?|[0-9A-Fa-f:.]+)$/;

const address = patterned(text.max(NAME_CHARACTERS_MAX), ADDRESS, {
  what: 'it is neither an IP address nor a DNS name',
  fix: 'write the host alone, without scheme and port, as in "10.0.0.1" or "server.example"',
}).describe('IP address or DNS name of the server; the agent itself when it is absent.');

const ip = ruled(text, 'IP address of the server, in manifests of KubeDiag v0.2.0.', [
  {
    holds: (value) => z.union([z.ipv4(), z.ipv6()]).safeParse(value).success,
    what: 'it is no IP address',
    fix: 'write one such as "10.0.0.1", or use httpServer.address for a DNS name',
  },
]).meta({ anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] });

// /processor/podDetailCollector
const ABSOLUTE = /^[/]/;

const path = patterned(text.max(PATH_CHARACTERS_MAX), ABSOLUTE, {
  what: 'it does not begin with "/"',
  fix: 'write the path of the processor, as in "/processor/podDetailCollector"',
}).describe('Path, and query if need be.');
const scheme = z.enum(['http', 'https']);

// LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t... is "-----BEGIN CERTIFICATE-----"
const CERTIFICATES = /^LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t[A-Za-z0-9+/]*={0,2}$/;

const caBundle = patterned(text.max(CA_BUNDLE_CHARACTERS_MAX), CERTIFICATES, {
  what: 'it is no list of certificates in PEM, in base64',
  fix: 'write what "base64 -w0 ca.crt" prints',
}).describe('Who may vouch for the server, in base64; those whom the system trusts when absent.');

const httpServer = z
  .object({
    address: address.exactOptional(),
    port: port.describe('The port; that of the agent when it is absent.').exactOptional(),
    path: path.default('/'),
    scheme: scheme.default('http'),
    caBundle: caBundle.exactOptional(),
    retries: z
      .int()
      .min(0)
      .max(RETRIES_MAX)
      .describe('How often it is asked again when the network fails; 3 times when absent.')
      .exactOptional(),
    insecureSkipTLSVerify: flag
      .describe(
        'Whoever answers is believed, and told all of the step. Off unless it is asked for.',
      )
      .exactOptional(),
  })
  .describe('Asks a server: POST of one flat JSON object, whose answer must be one too.');

const scriptRunner = z
  .object({
    script: text.describe(
      'The text of a shell script. Every account of the node can read it while it runs.',
    ),
    argKeys: z
      .array(text)
      .max(ARGUMENTS_MAX)
      .describe(
        'Keys of parameters and results whose values are the arguments. Every account of the node can read arguments ' +
          'while the script runs (/proc/PID/cmdline): read secrets from the environment, see scriptRunner.',
      )
      .exactOptional(),
    operationResultKey: text
      .describe('The output is kept as operation.KEY.output, an error as operation.KEY.error.')
      .exactOptional(),
    ignoreExitCode: flag
      .describe('The step succeeds with any exit code, as it did up to v0.3.1. Off by default.')
      .exactOptional(),
  })
  .describe(
    'Runs a shell script on the node. All parameters and results are in its environment: as one JSON object in ' +
      'KUBEDIAG_PARAMETERS, and each in KUBEDIAG_PARAM_KEY, with the key in upper case and "_" for all but letters and ' +
      'digits. KUBEDIAG_OMITTED names the keys without a variable, with the reason: two keys would share it, the ' +
      'value holds a NUL character, or all have more than 120 KiB together.',
  );

// function.py, requirements.txt
const FILE_NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

const codeSource = ruled(
  z.record(z.string(), text),
  'The files of the function: name and content.',
  [
    {
      holds: (files) => Object.keys(files).length <= CODE_FILES_MAX,
      what: `more than ${CODE_FILES_MAX} files`,
      fix: 'put them together',
    },
    {
      holds: (files) => Object.keys(files).every((name) => FILE_NAME.test(name)),
      cel: `self.all(name, name.matches('${FILE_NAME.source}'))`,
      what: 'a file has a name that could lead out of its folder',
      fix: 'use letters, digits, "_", "-" and ".", without "/"',
    },
  ],
).meta({ maxProperties: CODE_FILES_MAX });

const functionRunner = z
  .object({
    codeSource,
    runtime: z
      .enum(['Python3', 'python3', 'golang-http'])
      .describe('Python3: handler(context) of function.py returns a dict of strings.'),
  })
  .describe('Runs a function.');

const timeoutSeconds = z
  .int()
  .min(1)
  .max(TIMEOUT_SECONDS_MAX)
  .default(TIMEOUT_SECONDS_DEFAULT)
  .describe('How long one run may take.');

const FLAT = ['externalIP', 'externalAddress', 'externalPort', 'path', 'scheme'] as const;
const STRUCTURED = ['httpServer', 'scriptRunner', 'function'] as const;

/** Its language knows the word "function" as its own, and has another spelling for such fields. */
const celName = (field: string) => (field === 'function' ? '__function__' : field);

const anyFlat = `(${FLAT.map((field) => `has(self.${field})`).join(' || ')})`;
const waysInCel = [...STRUCTURED.map((field) => `has(self.${celName(field)})`), anyFlat]
  .map((has) => `(${has} ? 1 : 0)`)
  .join(' + ');

/** How many ways of doing it are named. The fields of v0.2.0 lie flat and are one way together. */
function waysOf(processor: object): number {
  const isFlat = FLAT.some((field) => field in processor);
  return STRUCTURED.filter((field) => field in processor).length + (isFlat ? 1 : 0);
}

const rules: readonly Rule<object>[] = [
  {
    holds: (processor) => waysOf(processor) > 0,
    cel: `${waysInCel} > 0`,
    what: 'the processor says nothing of how it is run',
    fix: 'give it httpServer, scriptRunner or function',
  },
  {
    holds: (processor) => waysOf(processor) < 2,
    cel: `${waysInCel} < 2`,
    what: 'the processor names more than one way to run it',
    fix: 'keep one of httpServer, scriptRunner, function or the flat fields (path, scheme…)',
  },
];

const processor = ruled(
  z.object({
    timeoutSeconds,
    httpServer: httpServer.exactOptional(),
    scriptRunner: scriptRunner.exactOptional(),
    function: functionRunner.exactOptional(),
    externalIP: ip.exactOptional(),
    externalAddress: address.exactOptional(),
    externalPort: port.exactOptional(),
    // No default for the flat form: it would be a second way beside the structured ones.
    path: path.exactOptional(),
    scheme: scheme.exactOptional(),
  }),
  'How the step is run: exactly one way.',
  rules,
);

const hostPath = z.object({ path: text });

export const operationSpec = z.object({
  processor,
  dependences: z
    .array(text)
    .describe('No effect. Accepted because manifests of KubeDiag v0.2 and v0.3 have it.')
    .exactOptional(),
  storage: z
    .object({ hostPath: hostPath.exactOptional() })
    .describe('No effect. Accepted because manifests of KubeDiag v0.2 and v0.3 have it.')
    .exactOptional(),
});

export type OperationSpec = z.output<typeof operationSpec>;

export const observedGeneration = count.describe('The metadata.generation that was seen last.');
