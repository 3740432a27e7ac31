/** Requests whose target is no address, as only a program by hand sends them. */
import { request } from 'node:http';

/** Targets that some way of reading an address refuses, or reads as another host's. */
export const ODD_TARGETS = [
  '//',
  '///',
  '*',
  '/%',
  '/%E0%A4%A',
  '//%',
  'http://',
  'http://[',
  '/?%',
  '/..//',
];

/** The status of the answer to `GET target`, the target sent as it is. */
export function statusOf(url: string, target: string): Promise<number | undefined> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const outgoing = request({ hostname, port, path: target, agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode));
    });
    outgoing.once('error', reject).end();
  });
}
