/** A service for the first try of `correctables serve`: its error names this module. */
export { keyValueService as service } from '../server/service/key-value-service.ts';
