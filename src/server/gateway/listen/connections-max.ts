/**
 * How many connections a port takes, those that never say a word among them. Each is a descriptor: a process that has
 * none left can open no file of its own any more, so that strangers could bring its storage to a halt.
 */
import fs from 'node:fs';
import type { Gateway } from '../gateway.ts';

/** Requests for `/health`, pages and the like, beside the clients of the sites. */
const OTHERS_MAX = 256;
/** Of those, from one address: what a browser opens at a time, and as much again. */
const OTHERS_PER_ADDRESS_MAX = 16;
/** Of the descriptors of the process; the others are for files. */
const SHARE_MAX = 0.75;
/** So many at least are no connections: Node takes some 30, in the two threads of the command, before any file. */
const OTHER_DESCRIPTORS_MIN = 48;

/** For sites behind one port, as far as the process may have so many files open. */
export function connectionsMaxOf(
  sites: Readonly<Record<string, Gateway>>,
  descriptorsMax: number = readDescriptorsMax(),
): number {
  const clientsMax = Object.values(sites).reduce((sum, { limits }) => sum + limits.connectionsMax, 0);
  const descriptors = Math.min(Math.floor(descriptorsMax * SHARE_MAX), descriptorsMax - OTHER_DESCRIPTORS_MIN);
  return Math.max(1, Math.min(clientsMax + OTHERS_MAX, descriptors));
}

/**
 * From one address, as far as each site has a bound for that: its clients, and a part for requests. A bound of clients
 * alone would leave the port to whoever connects and says nothing.
 */
export function connectionsPerAddressMaxOf(sites: Readonly<Record<string, Gateway>>): number {
  const clientsMax = Object.values(sites).reduce((sum, { limits }) => sum + limits.connectionsPerAddressMax, 0);
  return clientsMax + OTHERS_PER_ADDRESS_MAX;
}

/** Where the system does not say: no bound. */
function readDescriptorsMax(): number {
  try {
    const limits = fs.readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
