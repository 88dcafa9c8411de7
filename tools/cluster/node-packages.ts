import { type Missing, type UnpackedPackages, unpackedPackages } from '../debian-packages.ts';

/** What a node is made of besides Kubernetes itself, and the libraries a small machine may lack. */
const PACKAGES = [
  'etcd-server',
  'containerd',
  'runc',
  'libseccomp2',
  'containernetworking-plugins',
  'busybox-static',
  // Certificates.
  'openssl',
  'libssl3',
  // The network of the node, and the rules that kube-proxy writes.
  'iproute2',
  'iptables',
  'libbpf1',
  'libcap2',
  'libelf1',
  'libip4tc2',
  'libip6tc2',
  'libmnl0',
  'libnetfilter-conntrack3',
  'libnfnetlink0',
  'libnftnl11',
  'libxtables12',
];

export function nodePackages(): Promise<UnpackedPackages | Missing> {
  return unpackedPackages(PACKAGES);
}
