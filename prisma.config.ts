// This file configures Prisma's command line, which is installed in tools/. The configuration is a plain object, so
// that this file does not need to import a Prisma package.
export default {
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
};
