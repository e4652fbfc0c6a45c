package com.ritense.catalogiapi.service
import com.ritense.catalogiapi.domain.Informatieobjecttype
import java.net.URI
open class CatalogiService { open fun getInformatieobjecttype(url: URI): Informatieobjecttype? = null }
