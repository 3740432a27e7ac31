/**
 * Whether a service is being developed: then what costs time and finds mistakes
 * is done by itself.
 */
export function isInDevelopment(): boolean {
  return process.env['NODE_ENV'] !== 'production';
}
