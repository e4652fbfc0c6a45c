// Centre account: whoever works for the centre of many organisations, with a role in some of them.
import type { FastifyRequest } from 'fastify'

/** Whether the one who is signed in may see the page about all organisations. False in an installation with one organisation. */
export const isOfTheCentre = ({ beheerder }: FastifyRequest): boolean => beheerder?.centre?.seesCentre ?? false
