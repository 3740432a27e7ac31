/** The service at the sites in rounds of the bank. */
export { keyValueService as service } from 'correctables/server';
