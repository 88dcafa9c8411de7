import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { UnpackedPackages } from '../debian-packages.ts';
import { CONTROL_PLANE_ADDRESS, nodeAddress, SERVICE_ADDRESS } from './network.ts';

const run = promisify(execFile);
const DAYS = '3650';

/** A certificate and its key, as paths of PEM files. */
export interface Identity {
  readonly certificate: string;
  readonly key: string;
}

export interface Certificates {
  readonly authority: Identity;
  readonly apiServer: Identity;
  /** With which the API server speaks to the kubelet: logs, exec, port-forward. */
  readonly apiServerToKubelet: Identity;
  /** One for each node. */
  readonly kubelets: readonly Identity[];
  readonly controllerManager: Identity;
  readonly scheduler: Identity;
  readonly proxy: Identity;
  readonly administrator: Identity;
  /** Signs the tokens of service accounts; it needs no certificate. */
  readonly serviceAccounts: { readonly publicKey: string; readonly key: string };
}

/**
 * Who is who in the cluster. Kubernetes takes the common name for the user and the organisation for
 * his group: the rights of the names below are part of every cluster.
 */
export async function makeCertificates(
  folder: string,
  nodeNames: readonly string[],
  packages: UnpackedPackages,
): Promise<Certificates> {
  const issuer = new Issuer(folder, packages);
  const authority = await issuer.authority();
  const [apiServer, ...clients] = await Promise.all([
    issuer.issue('apiserver', '/CN=kube-apiserver', [
      `IP:${CONTROL_PLANE_ADDRESS}`,
      `IP:${SERVICE_ADDRESS}`,
      'IP:127.0.0.1',
      ...['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'localhost'].map(dns),
      dns('kubernetes.default.svc.cluster.local'),
    ]),
    issuer.issue('apiserver-kubelet', '/O=system:masters/CN=kube-apiserver-kubelet-client'),
    issuer.issue('controller-manager', '/CN=system:kube-controller-manager'),
    issuer.issue('scheduler', '/CN=system:kube-scheduler'),
    issuer.issue('proxy', '/CN=system:kube-proxy'),
    issuer.issue('administrator', '/O=system:masters/CN=administrator'),
  ]);
  const [apiServerToKubelet, controllerManager, scheduler, proxy, administrator] = clients;
  // A kubelet is server and client in one, and may change what is on its own node only.
  const kubelets = await Promise.all(
    nodeNames.map((name, index) =>
      issuer.issue(`kubelet-of-${name}`, `/O=system:nodes/CN=system:node:${name}`, [
        `IP:${nodeAddress(index)}`,
        dns(name),
      ]),
    ),
  );
  return {
    authority,
    apiServer,
    apiServerToKubelet,
    kubelets,
    controllerManager,
    scheduler,
    proxy,
    administrator,
    serviceAccounts: await makeServiceAccountKeys(folder),
  };
}

function dns(name: string): string {
  return `DNS:${name}`;
}

class Issuer {
  readonly #folder: string;
  readonly #packages: UnpackedPackages;
  readonly #authority: Identity;

  constructor(folder: string, packages: UnpackedPackages) {
    this.#folder = folder;
    this.#packages = packages;
    this.#authority = this.#paths('ca');
  }

  async authority(): Promise<Identity> {
    const usage = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign'];
    // openssl wants a file of settings, be it an empty one.
    await writeFile(join(this.#folder, 'openssl.cnf'), '[req]\ndistinguished_name=name\n[name]\n');
    await this.#request(this.#authority, '/CN=kubediag-cluster-ca', usage);
    return this.#authority;
  }

  async issue(name: string, subject: string, names: readonly string[] = []): Promise<Identity> {
    const identity = this.#paths(name);
    const usage = [
      'keyUsage=critical,digitalSignature',
      `extendedKeyUsage=clientAuth${names.length > 0 ? ',serverAuth' : ''}`,
      ...(names.length > 0 ? [`subjectAltName=${names.join(',')}`] : []),
    ];
    const { certificate, key } = this.#authority;
    await this.#request(identity, subject, usage, ['-CA', certificate, '-CAkey', key]);
    return identity;
  }

  #paths(name: string): Identity {
    return {
      certificate: join(this.#folder, `${name}.crt`),
      key: join(this.#folder, `${name}.key`),
    };
  }

  async #request(
    { certificate, key }: Identity,
    subject: string,
    extensions: readonly string[],
    issuer: readonly string[] = [],
  ): Promise<void> {
    const { root, environment } = this.#packages;
    const args = ['req', '-x509', '-config', join(this.#folder, 'openssl.cnf'), '-days', DAYS];
    const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const files = ['-keyout', key, '-out', certificate];
    const extensionArgs = extensions.flatMap((extension) => ['-addext', extension]);
    await run(
      join(root, 'usr/bin/openssl'),
      [...args, ...newKey, ...files, '-subj', subject, ...extensionArgs, ...issuer],
      { env: { ...process.env, ...environment } },
    );
  }
}

async function makeServiceAccountKeys(folder: string): Promise<Certificates['serviceAccounts']> {
  const paths = { publicKey: join(folder, 'accounts.pub'), key: join(folder, 'accounts.key') };
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await writeFile(paths.publicKey, publicKey.export({ type: 'spki', format: 'pem' }));
  const secret = privateKey.export({ type: 'sec1', format: 'pem' });
  await writeFile(paths.key, secret, { mode: 0o600 });
  return paths;
}
