package net.atos.client.zgw.shared.util;

import javax.ws.rs.core.MultivaluedMap;

import org.eclipse.microprofile.rest.client.ext.ClientHeadersFactory;

/** Adds the token. That of ZAC makes one for who is signed in to it. */
public class ZGWClientHeadersFactory implements ClientHeadersFactory {
    @Override
    public MultivaluedMap<String, String> update(MultivaluedMap<String, String> incoming, MultivaluedMap<String, String> outgoing) {
        outgoing.add("Authorization", "Bearer " + System.getenv("TOKEN"));
        return outgoing;
    }
}
