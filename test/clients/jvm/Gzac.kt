// Drives the client classes of GZAC against a service: one line a step, `ok <step>` or `not ok <step>: <what>`. See ../jvm.ts.
package zaakstroom

import com.fasterxml.jackson.databind.JsonNode
import com.ritense.authorization.AuthorizationService
import com.ritense.besluitenapi.BesluitenApiAuthentication
import com.ritense.besluitenapi.client.BesluitenApiClient
import com.ritense.besluitenapi.client.CreateBesluitRequest
import com.ritense.catalogiapi.CatalogiApiAuthentication
import com.ritense.catalogiapi.client.CatalogiApiClient
import com.ritense.catalogiapi.client.RoltypeRequest
import com.ritense.catalogiapi.client.StatustypeRequest
import com.ritense.catalogiapi.client.ZaaktypeRequest
import com.ritense.catalogiapi.service.CatalogiService
import com.ritense.documentenapi.DocumentenApiAuthentication
import com.ritense.documentenapi.client.BestandsdelenRequest
import com.ritense.documentenapi.client.CreateDocumentRequest
import com.ritense.documentenapi.client.DocumentLock
import com.ritense.documentenapi.client.DocumentStatusType
import com.ritense.documentenapi.client.DocumentenApiClient
import com.ritense.documentenapi.client.PatchDocumentRequest
import com.ritense.documentenapi.web.rest.dto.DocumentSearchRequest
import com.ritense.outbox.OutboxService
import com.ritense.outbox.domain.BaseEvent
import com.ritense.valtimo.contract.json.MapperSingleton
import com.ritense.zakenapi.ZakenApiAuthentication
import com.ritense.zakenapi.client.LinkDocumentRequest
import com.ritense.zakenapi.client.ZakenApiClient
import com.ritense.zakenapi.domain.Comparator
import com.ritense.zakenapi.domain.CreateZaakNotitieRequest
import com.ritense.zakenapi.domain.CreateZaakRequest
import com.ritense.zakenapi.domain.CreateZaakResultaatRequest
import com.ritense.zakenapi.domain.CreateZaakStatusRequest
import com.ritense.zakenapi.domain.CreateZaakeigenschapRequest
import com.ritense.zakenapi.domain.GetZaakResultatenRequest
import com.ritense.zakenapi.domain.Opschorting
import com.ritense.zakenapi.domain.PatchZaakRequest
import com.ritense.zakenapi.domain.PutZaakNotitieRequest
import com.ritense.zakenapi.domain.SearchParameter
import com.ritense.zakenapi.domain.UpdateZaakeigenschapRequest
import com.ritense.zakenapi.domain.Verlenging
import com.ritense.zakenapi.domain.ZaakopschortingRequest
import com.ritense.zakenapi.domain.rol.BetrokkeneIdentificatie
import com.ritense.zakenapi.domain.rol.BetrokkeneType
import com.ritense.zakenapi.domain.rol.Rol
import com.ritense.zakenapi.domain.rol.RolMedewerker
import com.ritense.zakenapi.domain.rol.RolNatuurlijkPersoon
import com.ritense.zakenapi.domain.rol.RolNietNatuurlijkPersoon
import com.ritense.zakenapi.domain.rol.RolOrganisatorischeEenheid
import com.ritense.zakenapi.domain.rol.RolVestiging
import com.ritense.zakenapi.domain.zaakobjectrequest.ZaakObjectOverigeRequest
import com.ritense.zgw.Rsin
import org.springframework.cache.concurrent.ConcurrentMapCacheManager
import org.springframework.data.domain.PageRequest
import org.springframework.data.domain.Sort
import org.springframework.http.converter.json.MappingJackson2HttpMessageConverter
import org.springframework.transaction.PlatformTransactionManager
import org.springframework.web.client.RestClient
import org.springframework.web.reactive.function.client.ClientRequest
import org.springframework.web.reactive.function.client.ExchangeFunction
import java.lang.reflect.Proxy
import java.net.URI
import java.time.LocalDate
import java.time.LocalDateTime
import java.util.UUID
import java.util.function.Supplier

/** Says yes to whatever is asked; its own rights are not what is tried. */
inline fun <reified T> agreeing(): T =
    Proxy.newProxyInstance(T::class.java.classLoader, arrayOf(T::class.java)) { _, method, _ ->
        if (method.returnType == Boolean::class.java) true else null
    } as T

class Bearer(private val token: String) :
    ZakenApiAuthentication, DocumentenApiAuthentication, CatalogiApiAuthentication, BesluitenApiAuthentication {
    override fun applyAuth(builder: RestClient.Builder): RestClient.Builder =
        builder.defaultHeader("Authorization", "Bearer $token")

    override fun filter(request: ClientRequest, next: ExchangeFunction) = next.exchange(request)
}

var failed = 0

fun <T> step(name: String, work: () -> T): T? = try {
    work().also { println("ok $name") }
} catch (error: Throwable) {
    failed++
    println("not ok $name: ${(error.message ?: error.toString()).replace('\n', ' ').take(400)}")
    null
}

fun main() {
    val mapper = MapperSingleton.get()
    val world: JsonNode = mapper.readTree(System.getenv("WORLD"))
    fun url(name: String) = URI(world[name].asText())
    fun base(api: String) = URI("${System.getenv("API")}/$api/api/v1/")
    val auth = Bearer(System.getenv("TOKEN"))
    val outbox = object : OutboxService { override fun send(eventSupplier: Supplier<BaseEvent>) { eventSupplier.get() } }
    val rest = RestClient.builder().messageConverters { converters ->
        converters.filterIsInstance<MappingJackson2HttpMessageConverter>().forEach { it.objectMapper = mapper }
    }
    val allowed = agreeing<AuthorizationService>()
    val zaken = ZakenApiClient(rest, outbox, mapper, allowed, false) { }
    val documenten = DocumentenApiClient(rest, outbox, mapper, agreeing<PlatformTransactionManager>(), allowed, CatalogiService())
    val catalogi = CatalogiApiClient(rest, ConcurrentMapCacheManager())
    val besluiten = BesluitenApiClient(rest)
    val zrc = base("zaken")
    val drc = base("documenten")
    val ztc = base("catalogi")
    val dossier = UUID.randomUUID()
    val rsin = Rsin("517439943")

    val zaak = step("create a case") {
        zaken.createZaak(
            auth, zrc,
            CreateZaakRequest(
                bronorganisatie = rsin, verantwoordelijkeOrganisatie = rsin, zaaktype = url("zaaktype"),
                startdatum = LocalDate.of(2026, 3, 2), omschrijving = "Bezwaar", laatstGeopend = LocalDateTime.now(),
            ),
        )
    } ?: return
    step("read it") { zaken.getZaak(auth, zaak.url) }
    step("suspend") {
        zaken.setZaakOpschorting(auth, zaak.url, ZaakopschortingRequest(Verlenging("", "P0D"), Opschorting(true, "Wacht")))
    }
    step("resume") {
        zaken.setZaakOpschorting(auth, zaak.url, ZaakopschortingRequest(Verlenging("", "P0D"), Opschorting(false, "Verder")))
    }
    step("extend") { zaken.patchZaak(auth, zrc, zaak.url, PatchZaakRequest(verlenging = Verlenging("Drukte", "P14D"))) }

    val kinds: List<Pair<BetrokkeneType, BetrokkeneIdentificatie>> = listOf(
        BetrokkeneType.NATUURLIJK_PERSOON to RolNatuurlijkPersoon(inpBsn = "111222333"),
        BetrokkeneType.NIET_NATUURLIJK_PERSOON to RolNietNatuurlijkPersoon(annIdentificatie = "A1", statutaireNaam = "Bakkerij"),
        BetrokkeneType.VESTIGING to RolVestiging(vestigingsNummer = "000037178598", handelsnaam = listOf("Bakkerij")),
        BetrokkeneType.ORGANISATORISCHE_EENHEID to RolOrganisatorischeEenheid(identificatie = "groep", naam = "Groep"),
        BetrokkeneType.MEDEWERKER to RolMedewerker(identificatie = "jan", achternaam = "Jansen"),
    )
    for ((kind, who) in kinds) {
        val rol = step("role ${kind.typeIdentifier}") {
            zaken.createZaakRol(
                auth, zrc,
                Rol(zaak = zaak.url, betrokkeneType = kind, roltype = url("roltype"), roltoelichting = "Erbij", betrokkeneIdentificatie = who),
            )
        }
        if (rol != null) step("change role ${kind.typeIdentifier}") {
            zaken.updateZaakRol(auth, zrc, rol.uuid!!, rol.copy(roltoelichting = "Anders")).also { check(it.roltoelichting == "Anders") }
        }
    }
    val rollen = step("list roles") { zaken.getZaakRollen(auth, zrc, zaak.url, 1).results.also { check(it.size == 5) { "${it.size}" } } }
    rollen?.lastOrNull()?.let { step("take a role away") { zaken.deleteZaakRol(auth, zrc, it.uuid!!) } }

    fun newDocument(bytes: ByteArray, whole: Boolean) = CreateDocumentRequest(
        bronorganisatie = "517439943", creatiedatum = LocalDate.of(2026, 3, 2), titel = "Brief", auteur = "Jan",
        status = DocumentStatusType.IN_BEWERKING, taal = "dut", bestandsnaam = "brief.txt",
        bestandsomvang = bytes.size.toLong(), inhoud = (if (whole) bytes else ByteArray(0)).inputStream(),
        informatieobjecttype = world["informatieobjecttype"].asText(), formaat = "text/plain",
    )
    val bytes = ByteArray(2_500) { (it % 251).toByte() }
    val document = step("document, streamed as base64") { documenten.storeDocument(auth, drc, dossier, newDocument(bytes, true)) }
    val inParts = step("document in parts") {
        documenten.storeDocument(auth, drc, dossier, newDocument(bytes, false)).also {
            check(it.bestandsdelen.size > 1) { "${it.bestandsdelen.size} parts" }
        }
    }
    if (inParts != null) {
        step("send the parts") { documenten.storeDocumentInParts(auth, drc, BestandsdelenRequest(bytes.inputStream()), inParts) }
        step("unlock it") { documenten.unlockInformatieObject(auth, URI(inParts.url), DocumentLock(inParts.getLockOrEmpty())) }
        step("download it") {
            documenten.downloadInformatieObjectContent(auth, null, URI(inParts.url)).readAllBytes()
                .also { check(it.contentEquals(bytes)) { "${it.size} bytes" } }
        }
    }
    if (document != null) {
        val at = URI(document.url)
        step("link it") {
            zaken.linkDocument(auth, dossier, zrc, LinkDocumentRequest(document.url, zaak.url.toString(), "Brief", "Bij", null, null))
        }
        step("list links") { zaken.getZaakInformatieObjecten(auth, dossier, zrc, zaak.url).also { check(it.size == 1) } }
        step("read it") { documenten.getInformatieObject(auth, null, at) }
        step("list by case and every filter") {
            val search = DocumentSearchRequest(
                titel = "Brief", auteur = "Jan", creatiedatumFrom = LocalDate.of(2026, 1, 1), creatiedatumTo = LocalDate.of(2026, 12, 31),
                informatieobjecttype = world["informatieobjecttype"].asText(), zaakUrl = zaak.url,
            )
            documenten.getInformatieObjecten(auth, dossier, drc, PageRequest.of(0, 10, Sort.by("creatiedatum").descending()), search)
                .also { check(it.content.size == 1) { "${it.content.size}" } }
        }
        val lock = step("lock it") { documenten.lockInformatieObject(auth, at) }
        if (lock != null) {
            step("change it") {
                documenten.modifyInformatieObject(
                    auth, at,
                    PatchDocumentRequest(LocalDate.of(2026, 3, 2), "Brief, 2", "Jan", DocumentStatusType.DEFINITIEF, "dut", trefwoorden = listOf("a"), lock = lock.lock),
                )
            }
            step("unlock it again") { documenten.unlockInformatieObject(auth, at, lock) }
        }
        step("audit trail") { documenten.getAuditTrail(auth, null, at).also { check(it.isNotEmpty()) } }
    }

    val note = step("note") { zaken.createZaakNotitie(auth, zrc, CreateZaakNotitieRequest("Gebeld", "Belt terug", zaak.url, "Jan")) }
    step("list notes") { zaken.getZaakNotities(auth, zrc, zaak.url, 1).results.also { check(it.size == 1) } }
    if (note != null) {
        step("change note") {
            zaken.updateZaakNotitie(auth, zrc, note.url, PutZaakNotitieRequest("Gebeld", "Anders", zaak.url)).also { check(it.aangemaaktDoor == "Jan") }
        }
        step("remove note") { zaken.deleteZaakNotitie(auth, zrc, note.url) }
    }
    val eigenschap = step("property") { zaken.createZaakeigenschap(auth, zrc, CreateZaakeigenschapRequest(zaak.url, url("eigenschap"), "rood")) }
    if (eigenschap != null) step("change property") {
        zaken.updateZaakeigenschap(auth, zrc, eigenschap.url, UpdateZaakeigenschapRequest(zaak.url, url("eigenschap"), "blauw"))
    }
    step("list properties") { zaken.getZaakeigenschappen(auth, zrc, zaak.url).also { check(it.size == 1) } }
    step("object") {
        zaken.createZaakObject(
            auth, zrc,
            ZaakObjectOverigeRequest(
                zaakUrl = zaak.url, objectTypeOverige = "taak",
                objectIdentificatie = ZaakObjectOverigeRequest.OverigeIdentificatie(mapOf("naam" to "Taak")),
            ),
        )
    }
    step("list objects") { zaken.getZaakObjecten(auth, zrc, zaak.url, 1) }
    step("besluit") {
        besluiten.createBesluit(
            auth, base("besluiten"),
            CreateBesluitRequest(
                zaak.url, url("besluittype"), "517439943", LocalDate.of(2026, 3, 2), LocalDate.of(2026, 3, 3),
                null, null, null, null, null, null, null,
            ),
        )
    }
    step("list besluiten") { zaken.getZaakbesluiten(auth, zrc, zaak.url).also { check(it.size == 1) } }

    for ((name, value) in world["filters"].fields()) step("filter $name") {
        val comparator = Comparator.entries.firstOrNull { it != Comparator.IS_NULL && it.value.isNotEmpty() && name.endsWith("__${it.value}") } ?: Comparator.EQUAL_TO
        val attribute = if (comparator == Comparator.EQUAL_TO) name else name.removeSuffix("__${comparator.value}")
        val found = zaken.searchZaken(auth, zrc, listOf(SearchParameter(attribute, comparator, value.asText())), PageRequest.of(0, 10, Sort.by("startdatum")))
        check(found.results.size <= 10)
    }

    step("zaaktypen") { catalogi.getZaaktypen(auth, ztc, ZaaktypeRequest(catalogus = url("catalogus"), page = 1)).also { check(it.results.isNotEmpty()) } }
    step("roltypen") { catalogi.getRoltypen(auth, ztc, RoltypeRequest(zaaktype = url("zaaktype"), page = 1)).also { check(it.results.size == 2) } }
    step("statustypen") { catalogi.getStatustypen(auth, ztc, StatustypeRequest(zaaktype = url("zaaktype"), page = 1)).also { check(it.results.size == 2) } }

    step("status") { zaken.createZaakStatus(auth, zrc, CreateZaakStatusRequest(zaak.url, url("statustype"), LocalDateTime.of(2026, 3, 2, 9, 0))) }
    step("list statuses") { zaken.getZaakStatussen(auth, zrc, zaak.url).results.also { check(it.size == 1) } }
    step("result") { zaken.createZaakResultaat(auth, zrc, CreateZaakResultaatRequest(zaak.url, url("resultaattype"), "Akkoord")) }
    step("list results") { zaken.getAllZaakResultaten(auth, zrc, GetZaakResultatenRequest(zaak = zaak.url)).results.also { check(it.size == 1) } }
    step("close") {
        zaken.createZaakStatus(auth, zrc, CreateZaakStatusRequest(zaak.url, url("eindstatus"), LocalDateTime.of(2026, 3, 20, 9, 0)))
        check(zaken.getZaak(auth, zaak.url).einddatum != null)
    }
    println("done, $failed failed")
}
