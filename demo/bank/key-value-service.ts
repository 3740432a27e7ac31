/** The service that the processes of the sites serve with `--kill`. */
export { keyValueService as service } from 'correctables/server';
